import ArgumentParser
import FreshetCache
import FreshetWire

struct CacheStats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print how much caches hold.",
        discussion: """
            EXAMPLE
              freshet cache stats /var/cache/pictures --json
            """)

    @Argument(help: ArgumentHelp("Directories of caches.", valueName: "dir"), completion: .directory) var directories: [String]
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !directories.isEmpty else { throw ValidationError("name at least one directory") }
    }

    func run() throws {
        for path in directories {
            do throws(CacheError) {
                print(path, try DiskCacheDirectory(path).summary())
            } catch { throw CommandFailure(error) }
        }
    }

    private func print(_ path: String, _ summary: DiskCacheDirectory.Summary) {
        if output.json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("directory", path)
            writer.member("entries", Int64(summary.entries))
            writer.member("bytes", Int64(summary.bytes))
            writer.member("fileBytes", Int64(summary.fileBytes))
            writer.member("schema", summary.schema)
            writer.endObject()
            StandardStream.output.printJSON(writer.bytes)
        } else {
            let lines = [
                ("directory", StandardStream.output.visible(path)),
                ("entries", grouped(summary.entries)), ("bytes", grouped(summary.bytes)),
                ("on disk", "\(grouped(summary.fileBytes)) bytes"),
                ("schema", summary.schema.isEmpty ? "none" : StandardStream.output.visible(summary.schema)),
            ]
            for (name, value) in lines {
                StandardStream.output.printLine(name + String(repeating: " ", count: 11 - name.count) + value)
            }
        }
    }
}
