import ArgumentParser
import FreshetWire
import HTTPTypes

struct Patch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change parts of a record with a merge patch (RFC 7396).",
        discussion: """
            Members of the patch replace those of the record; null removes one.

            EXAMPLE
              freshet patch notes/1 '{"done":true,"draft":null}'
            """)

    @Argument(help: "The record, as COLLECTION/ID.", transform: { try RecordKey($0) }) var key: RecordKey
    @Argument(help: "The patch; - or nothing: from standard input; @FILE: from a file.") var patch: String?
    @OptionGroup var write: WriteOptions

    func run() async throws {
        try await write.send(.patch, key, contentType: "application/merge-patch+json", body: try ValueArgument.bytes(patch))
    }
}
