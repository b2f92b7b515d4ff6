import FreshetCache
import FreshetHTTPCache
import FreshetTestSupport
import Synchronization
import Testing

/// A picture as it is shown: decoded, beside the file that it was made of.
private final class Picture: Sendable {
    struct Unreadable: Error {}

    let width: Int
    let height: Int
    /// Red, green and blue of each point, row by row.
    let points: [[UInt8]]
    let file: [UInt8]

    var byteCount: Int { file.count + 3 * points.count }

    /// Reads a plain portable pixmap, <https://netpbm.sourceforge.net/doc/ppm.html>, without comments.
    init(file: [UInt8]) throws {
        let words = file.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { String(decoding: $0, as: UTF8.self) }
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard words.first == "P3", numbers.count == words.count - 1, numbers.count > 3, numbers[2] == 255,
            case (1...4_096, 1...4_096) = (numbers[0], numbers[1]), numbers.count == 3 + 3 * numbers[0] * numbers[1],
            numbers[3...].allSatisfy({ 0...255 ~= $0 })
        else { throw Unreadable() }
        (width, height) = (numbers[0], numbers[1])
        points = (0..<width * height).map { point in (0..<3).map { UInt8(numbers[3 + 3 * point + $0]) } }
        self.file = file
    }
}

/// A server on loopback with a picture and half of it, that notes what it is asked for.
private final class Gallery: Sendable {
    static let red = "P3\n2 1\n255\n255 0 0 0 0 255\n"

    private let paths = Mutex<[String]>([])
    private let server = Mutex<ScriptedServer?>(nil)

    init() {
        let server = ScriptedServer { [weak self] connection in
            while let (head, _) = connection.request() {
                let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                self?.paths.withLock { $0.append(path) }
                switch path {
                case "/red.ppm": connection.respond(Self.red)
                case "/torn.ppm": connection.respond(String(Self.red.prefix(16)))
                default: connection.respond("no such picture", status: "404 Not Found")
                }
            }
        }
        self.server.withLock { $0 = server }
    }

    var url: String { server.withLock { $0?.url ?? "" } }
    /// What it was asked for since the last call.
    func takeAsked() -> [String] {
        paths.withLock { paths in
            defer { paths = [] }
            return paths
        }
    }
}

private func example(
    _ directory: String, _ gallery: String, show: ([Picture], Picture?, [Picture?], TwoTierStatistics) -> Void
) async throws {
    // article begins
    // Files on disk, decoded pictures in memory, the network only for a picture that is in neither.
    var configuration = TwoTierCache<String, Picture>.Configuration()
    configuration.lifetime = .after(.seconds(7 * 86_400))
    let pictures = TwoTierCache<String, Picture>(
        primary: Cache(costLimit: 64 << 20, cost: { $0.value.byteCount }),  // the limit of memory is one of decoded bytes
        secondary: try await DiskCache.open(directory),
        values: CacheValueCoding(encode: { $0.file }, decode: { try Picture(file: $0) }), configuration)
    let client = try CachingHTTPClient(store: MemoryHTTPCacheStore(byteLimit: 0))  // the pictures' cache keeps them

    @Sendable func picture(at url: String) async throws -> Picture {
        try await pictures.value(forKey: url) {
            let answer = try await client.data(from: url)
            guard answer.status == 200 else { throw Picture.Unreadable() }
            return try Picture(file: answer.body)
        }
    }

    // Twenty rows of a list show one picture: it is fetched once, and decoded once.
    let rows = try await withThrowingTaskGroup(of: Picture.self) { group in
        for _ in 0..<20 { group.addTask { try await picture(at: gallery + "/red.ppm") } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
    let atOnce = pictures[gallery + "/red.ppm"]  // memory alone, without `await`: for a cell that is drawn now

    // Bytes that are no picture are an error. The error is not cached: the next request fetches again.
    let torn = try? await picture(at: gallery + "/torn.ppm")
    let missing = try? await picture(at: gallery + "/missing.ppm")

    try await pictures.flush()  // on disk for the next run, which decodes it from there
    show(rows, atOnce, [torn, missing], pictures.statistics)
    // article ends
}

@Suite("Article: loading pictures", .timeLimit(.minutes(5)))
struct LoadingPicturesTests {
    private let folder = TemporaryDirectory()
    private let gallery = Gallery()

    /// One run of a program; its caches go with it.
    private func run() async throws -> (statistics: TwoTierStatistics, asked: [String]) {
        var statistics: TwoTierStatistics?
        try await example(folder.path, gallery.url) { rows, atOnce, broken, figures in
            // All rows have the one picture that was decoded
            #expect(rows.count == 20 && Set(rows.map(ObjectIdentifier.init)).count == 1 && atOnce === rows[0])
            #expect(atOnce?.width == 2 && atOnce?.height == 1 && atOnce?.points == [[255, 0, 0], [0, 0, 255]])
            #expect(broken.count == 2 && broken.allSatisfy { $0 == nil })
            statistics = figures
        }
        return (try #require(statistics), gallery.takeAsked())
    }

    @Test("the first run asks once for each, the second takes the picture from disk")
    func runs() async throws {
        // When
        let (first, asked) = try await run()
        // Then
        #expect(asked == ["/red.ppm", "/torn.ppm", "/missing.ppm"])
        #expect(first.loads == 1 && first.failedLoads == 2 && first.diskHits == 0 && first.writes == 1)
        // When it runs again, then the torn and the missing picture are requested again, and the good one is not
        let (second, askedAgain) = try await run()
        #expect(askedAgain == ["/torn.ppm", "/missing.ppm"])
        #expect(second.loads == 0 && second.failedLoads == 2 && second.diskHits == 1 && second.writes == 0)
    }

    @Test("the file is on disk as it came, and bytes that are no picture are not")
    func bytes() async throws {
        // Given
        _ = try await run()
        // When
        let disk = try await DiskCache.open(folder.path)
        // Then
        #expect(try await disk.keys(withPrefix: "") == [gallery.url + "/red.ppm"])
        #expect(try await disk.value(forKey: gallery.url + "/red.ppm")?.bytes == Array(Gallery.red.utf8))
    }
}
