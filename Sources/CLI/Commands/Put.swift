import ArgumentParser
import FreshetWire
import HTTPTypes

struct Put: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a record.",
        discussion: """
            EXAMPLES
              freshet put notes/1 '{"text":"hello"}'
              freshet put notes/1 @note.json --if-revision 7
              freshet put counters/1 -- -5
              echo hello | freshet put notes/2 --content-type text/plain
            """)

    @Argument(help: "The record, as COLLECTION/ID.", transform: { try RecordKey($0) }) var key: RecordKey
    @Argument(help: "The value; - or nothing: from standard input; @FILE: from a file.") var value: String?
    @Option(
        help: ArgumentHelp("What the value is; JSON is checked.", valueName: "media type"),
        completion: .list([Content.json, "text/plain", "application/octet-stream"]))
    var contentType = Content.json
    @OptionGroup var write: WriteOptions

    func run() async throws {
        let bytes = try ValueArgument.bytes(value)
        do throws(WireError) {
            if Content.isJSON(contentType) { try JSONReader.validate(bytes) }
        } catch {
            throw CommandFailure(.data, "the value is not taken as JSON, \(error.description); for text add --content-type text/plain")
        }
        try await write.send(.put, key, contentType: contentType, body: bytes)
    }
}
