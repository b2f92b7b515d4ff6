import FreshetClient

private struct Note: Codable, Sendable { var text: String }

/// The README's lines, with the server and folder of a test.
func readmeExample(server: String, folder: String, print: @escaping @Sendable (String...) -> Void) async throws {
    // README begins
    var configuration = SyncClient.Configuration(url: server, namespace: "demo", storage: .directory(folder))
    configuration.following = .everything  // the default: a copy of all records, which works offline
    let client = try SyncClient(configuration)
    try await client.start()
    let notes = client.collection("notes", of: Note.self)

    let write = try await notes.setValue(Note(text: "Hello"), forKey: "1")  // on disk, and shown at once
    print(notes["1"]?.value?.text ?? "none")  // from memory, without waiting
    try await write.waitUntilConfirmed()  // the server has it, exactly once
    for try await note in notes.snapshots(forKey: "1") {  // now, and after each change, by any device
        print(note.value?.text ?? "none", note.isPending ? "(pending)" : "(confirmed)")
    }
    // README ends
}
