import ArgumentParser
import FreshetCache
import FreshetClient
import FreshetPlatform
import FreshetWire

struct CacheClear: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove all entries of caches.",
        discussion: """
            The directories stay, and programs that use them go on with an empty cache. It asks first; where nobody can answer, it
            exits with 64 and takes --force. A directory that is no cache is never touched.

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
            let directories = try directories.map { path throws(CommandFailure) in try AbsolutePath(argument: path).text }
            let clients = try directories.compactMap { path in try ClientDirectory(path) }
            let others = directories.filter { path in !clients.contains { $0.path == path } }
            var found: [DiskCacheDirectory] = []
            do throws(CacheError) {
                for path in others { found.append(try DiskCacheDirectory(path)) }
            } catch { throw CommandFailure(error) }
            for directory in found { try clear(directory) }
            for client in clients { try clear(client) }
        } catch let error as ClientError { throw CommandFailure(.data, "\(error)") }
    }

    /// - Throws: ``CommandFailure`` if nobody answers; `ClientError` if the directory cannot be cleared.
    private func clear(_ client: ClientDirectory) throws {
        let question = keepOutbox ? "Remove all records of the client in" : "Remove all records and writes of the client in"
        if !force { guard try isConfirmed("\(question) \(client.path)?", client.path) else { return } }
        let (removed, kept) = try client.clear(keepingOutbox: keepOutbox)
        guard output.json else {
            let rest = keepOutbox ? ", kept \(kept == 1 ? "1 write" : "\(kept) writes")" : ""
            let path = StandardStream.output.visible(client.path)
            return StandardStream.output.printLine("\(path): removed \(CacheEntryText.count(removed))\(rest)")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("directory", client.path)
        writer.member("removed", Int64(removed))
        writer.member("kept", Int64(kept))
        writer.endObject()
        StandardStream.output.printJSON(writer.bytes)
    }

    private func clear(_ directory: DiskCacheDirectory) throws(CommandFailure) {
        // The entries of a damaged cache cannot be counted, but the cache can still be cleared.
        let entries = try? directory.summary().entries
        if !force {
            guard try isConfirmed("Remove \(CacheEntryText.count(entries)) of \(directory.path)?", directory.path) else { return }
        }
        do throws(CacheError) { try directory.clear() } catch { throw CommandFailure(error) }
        guard output.json else {
            let path = StandardStream.output.visible(directory.path)
            return StandardStream.output.printLine("\(path): removed \(CacheEntryText.count(entries))")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("directory", directory.path)
        writer.member("removed")
        if let entries { writer.integer(Int64(entries)) } else { writer.null() }
        writer.endObject()
        StandardStream.output.printJSON(writer.bytes)
    }

    /// - Throws: a failure if standard input ends without an answer.
    private func isConfirmed(_ question: String, _ path: String) throws(CommandFailure) -> Bool {
        StandardStream.error.write(Array("\(StandardStream.error.visible(question)) [y/N] ".utf8))
        guard let answer = readLine() else {
            StandardStream.error.printLine("")
            throw CommandFailure(.usage, "nobody answers, so \(path) is left as it is: add --force to clear it without a question")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            StandardStream.error.printLine("\(StandardStream.error.visible(path)) is left as it is")
            return false
        }
        return true
    }
}
