import ArgumentParser
import FreshetClient
import FreshetWire
import HTTPTypes

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a record's value.",
        discussion: """
            With --json: the record with its revision, size and time.

            EXAMPLE
              freshet get countries/NZ
            """)

    @Argument(help: "The record, as COLLECTION/ID.", transform: { try RecordKey($0) }) var key: RecordKey
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    func run() async throws {
        let remote = try options.remote()
        if output.json {
            let request = ReadsRequest(items: [.init(key: key)])
            let answer = try await remote.ask(.post, remote.namespace.readsPath, request, as: ReadsResponse.self)
            guard let record = answer.records.first else {
                throw CommandFailure(.notFound, "not-found: there is no record \(key) in \(remote.namespace)")
            }
            StandardStream.output.write(record.json + [UInt8(ascii: "\n")])
        } else {
            var value = try await remote.reply(.get, remote.namespace.path(of: key)).body
            // A prompt shall begin on its own line; a file or a pipe gets the bytes as they are.
            if StandardStream.output.isTerminal, value.last != UInt8(ascii: "\n") { value.append(UInt8(ascii: "\n")) }
            StandardStream.output.write(value)
        }
    }
}
