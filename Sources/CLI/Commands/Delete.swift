import ArgumentParser
import FreshetWire
import HTTPTypes

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete a record.",
        discussion: """
            EXAMPLE
              freshet delete notes/1
            """)

    @Argument(help: "The record, as COLLECTION/ID.", transform: { try RecordKey($0) }) var key: RecordKey
    @OptionGroup var write: WriteOptions

    func run() async throws { try await write.send(.delete, key) }
}
