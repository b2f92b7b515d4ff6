import ArgumentParser
import FreshetWire

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete a record.",
        discussion: """
            EXAMPLE
              freshet delete notes/1
            """)

    @Argument(help: "The record, as COLLECTION/ID.") var key: RecordKey
    @OptionGroup var write: WriteOptions

    func run() async throws { try await write.send(.delete, key) }
}
