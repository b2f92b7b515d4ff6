import ArgumentParser
import FreshetCache
import FreshetClient
import FreshetWire

struct CacheClear: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove all entries of caches.",
        discussion: """
            The directories stay, and programs that use them go on with an empty cache. It asks first; where nobody can answer, it
            takes --force. A directory that is no cache is never touched.

            The directory of a client of the SDK must not be in use. Its waiting and rejected writes are removed as well, unless
            --keep-outbox is given: then the client sends the waiting ones at its next start.

            EXAMPLES
              freshet cache clear /var/cache/pictures --force
              freshet cache clear /var/lib/shop/cache --keep-outbox
            """)

    @Argument(help: ArgumentHelp("Directories of caches.", valueName: "dir"), completion: .directory) var directories: [String]
    @Flag(help: "Do not ask.") var force = false
    @Flag(help: "Keep the waiting and rejected writes of a client's directory.") var keepOutbox = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !directories.isEmpty else { throw ValidationError("name at least one directory") }
    }

    func run() throws {
        do {
            // All directories are checked before the first is cleared.
            let clients = try directories.compactMap { path in try ClientDirectory(path) }
            let others = directories.filter { path in !clients.contains { $0.path == path } }
            do throws(CacheError) {
                var found: [DiskCacheDirectory] = []
                for path in others { found.append(try DiskCacheDirectory(path)) }
                try clear(found)
            } catch { throw CommandFailure(error) }
            for client in clients { try clear(client) }
        } catch let error as ClientError { throw CommandFailure(.data, "\(error)") }
    }

    private func clear(_ client: ClientDirectory) throws(ClientError) {
        let question = keepOutbox ? "Remove all records of the client in" : "Remove all records and writes of the client in"
        guard force || isConfirmed("\(question) \(client.path)?", client.path) else { return }
        let (removed, kept) = try client.clear(keepingOutbox: keepOutbox)
        guard output.json else {
            let rest = keepOutbox ? ", kept \(kept == 1 ? "1 write" : "\(kept) writes")" : ""
            return StandardStream.output.printLine("\(client.path): removed \(CacheEntryText.count(removed))\(rest)")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("directory", client.path)
        writer.member("removed", Int64(removed))
        writer.member("kept", Int64(kept))
        writer.endObject()
        StandardStream.output.printJSON(writer.bytes)
    }

    private func clear(_ found: [DiskCacheDirectory]) throws(CacheError) {
        for directory in found {
            // The entries of a damaged cache cannot be counted, but the cache can still be cleared.
            let entries = try? directory.summary().entries
            guard force || isConfirmed("Remove \(CacheEntryText.count(entries)) of \(directory.path)?", directory.path) else { continue }
            try directory.clear()
            if output.json {
                var writer = JSONWriter()
                writer.beginObject()
                writer.member("directory", directory.path)
                writer.member("removed")
                if let entries { writer.integer(Int64(entries)) } else { writer.null() }
                writer.endObject()
                StandardStream.output.printJSON(writer.bytes)
            } else {
                StandardStream.output.printLine("\(directory.path): removed \(CacheEntryText.count(entries))")
            }
        }
    }

    private func isConfirmed(_ question: String, _ path: String) -> Bool {
        StandardStream.error.write(Array("\(question) [y/N] ".utf8))
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            StandardStream.error.printLine("\(path) is left as it is")
            return false
        }
        return true
    }
}
