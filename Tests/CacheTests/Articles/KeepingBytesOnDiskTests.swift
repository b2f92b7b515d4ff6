import FreshetCache
import FreshetTestSupport
import Testing

private func example(_ directory: String, show: (String?, [String], Bool) -> Void) async throws {
    // article begins
    let cache = try await DiskCache.open(directory)
    try await cache.setValue(Array("a picture".utf8), forKey: "pictures/cat.png", lifetime: .after(.seconds(86_400)), tags: ["animals"])
    try cache.stageValue(Array("another".utf8), forKey: "pictures/dog.png", tags: ["animals"])  // returns at once, and is read back at once
    try await cache.flush()  // now it is on disk; throws what went wrong

    // Another process, or another instance, on the same directory.
    let other = try await DiskCache.open(directory)
    let cat = try await other.value(forKey: "pictures/cat.png")
    let names = try await other.keys(withPrefix: "pictures/")

    try await other.removeAll(taggedWith: "animals")
    let gone = try await cache.value(forKey: "pictures/cat.png")  // nil, in every process
    show(cat.map { String(decoding: $0.bytes, as: UTF8.self) }, names, gone == nil)
    // article ends
}

@Suite("Article: keeping bytes on disk")
struct KeepingBytesOnDiskTests {
    @Test("runs as it says")
    func runs() async throws {
        let folder = TemporaryDirectory()
        var shown = 0
        try await example(folder.path) { cat, names, isGone in
            shown += 1
            #expect(cat == "a picture" && names == ["pictures/cat.png", "pictures/dog.png"] && isGone)
        }
        #expect(shown == 1)
    }
}
