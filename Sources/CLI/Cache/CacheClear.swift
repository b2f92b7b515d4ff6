import ArgumentParser
import FreshetCache
import FreshetWire

struct CacheClear: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove all entries of caches.",
        discussion: """
            The directories stay, and programs that use them go on with an empty cache. It asks first; where nobody can answer, it
            takes --force. A directory that is no cache is never touched.

            EXAMPLE
              freshet cache clear /var/cache/pictures --force
            """)

    @Argument(help: ArgumentHelp("Directories of caches.", valueName: "dir"), completion: .directory) var directories: [String]
    @Flag(help: "Do not ask.") var force = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !directories.isEmpty else { throw ValidationError("name at least one directory") }
    }

    func run() throws {
        do throws(CacheError) {
            // All directories are checked before the first is cleared.
            var found: [DiskCacheDirectory] = []
            for path in directories { found.append(try DiskCacheDirectory(path)) }
            try clear(found)
        } catch { throw CommandFailure(error) }
    }

    private func clear(_ found: [DiskCacheDirectory]) throws(CacheError) {
        for directory in found {
            // The entries of a damaged cache cannot be counted, but the cache can still be cleared.
            let entries = try? directory.summary().entries
            guard force || isConfirmed(directory.path, entries) else { continue }
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

    private func isConfirmed(_ path: String, _ entries: Int?) -> Bool {
        StandardStream.error.write(Array("Remove \(CacheEntryText.count(entries)) of \(path)? [y/N] ".utf8))
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            StandardStream.error.printLine("\(path) is left as it is")
            return false
        }
        return true
    }
}
