import FreshetClient

private struct Note: Codable, Sendable { var text: String }

/// The README's lines, with a server and a folder of the test's.
func readmeExample(server: String, folder: String, show: @escaping @Sendable (String?, Bool) -> Void) async throws {
    // README begins
    let client = try SyncClient(url: server, namespace: "shop", storage: .directory(folder))
    try await client.start()
    let notes = client.collection("notes", of: Note.self)

    let write = try await notes.set(Note(text: "Hello"), for: "1")  // on disk, and shown as pending
    show(notes["1"]?.value?.text, notes["1"]?.isPending == true)  // from memory, without waiting
    try await write.confirmed()  // the server has it, exactly once
    for try await note in notes.snapshots(of: "1") {  // now, and at each change, whoever made it
        show(note.value?.text, note.isPending)
    }
    // README ends
}
