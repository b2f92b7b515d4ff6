import ArgumentParser
import FreshetClient
import FreshetTransport
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
            // `reads` always sends the value. Without it, the size and the time are not known either.
            guard record.content != nil else {
                throw CommandFailure(
                    .software, "\(remote.server): the answer has \(key) in a form that this version does not understand: update freshet")
            }
            StandardStream.output.printJSON(record.json)
        } else {
            let reply = try await remote.reply(.get, remote.namespace.path(of: key))
            // Any part of a value would be taken for the whole.
            guard reply.statesEnd else {
                throw CommandFailure(
                    .unavailable,
                    "\(remote.server): the response states no length, so it may be cut: a proxy in between has removed the length; "
                        + "try --json, which cannot be cut unnoticed")
            }
            StandardStream.output.printValue(reply.body)
        }
    }
}
