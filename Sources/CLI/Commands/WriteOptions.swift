import ArgumentParser
import FreshetClient
import FreshetTransport
import FreshetWire
import HTTPTypes

/// Options that `put`, `patch` and `delete` share.
struct WriteOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only if the record is at this revision; 0: only if there is none.", valueName: "revision"))
    var ifRevision: Int64?

    @OptionGroup var output: OutputOptions
    @OptionGroup var options: RemoteOptions

    /// Sends the write and prints what the server says.
    func send(_ method: HTTPRequest.Method, _ key: RecordKey, contentType: String? = nil, body: [UInt8]? = nil) async throws {
        let remote = try options.remote()
        let path = remote.namespace.path(of: key)
        var fields = try await precondition(remote, path)
        if let contentType { fields[.contentType] = contentType }
        let reply = try await remote.reply(method, path, fields: fields, body: body)
        let receipt = try WriteReceipt(of: reply)
        if output.json {
            StandardStream.output.printJSON(receipt.json)
        } else {
            let verb = method == .delete ? "deleted" : reply.status == 201 ? "created" : "written"
            StandardStream.output.printLine(
                "\(StandardStream.output.visible(key.description)) \(verb) at revision \(receipt.revision?.description ?? "none")")
        }
    }

    private func precondition(_ remote: Remote, _ path: String) async throws(CommandFailure) -> HTTPFields {
        guard let ifRevision else { return [:] }
        guard let revision = Revision(ifRevision) else {
            throw CommandFailure(.usage, "--if-revision takes a whole number from 0, not \(ifRevision)")
        }
        guard revision > .zero else { return [.ifNoneMatch: "*"] }
        // An entity tag names the epoch too, which every answer about the namespace carries.
        switch try await remote.answer(.head, path) {
        case .success(let reply):
            if let text = reply.fields[.freshetCursor], let cursor = try? Cursor(text) {
                return [.ifMatch: Cursor(epoch: cursor.epoch, revision: revision).entityTag]
            }
            throw CommandFailure(reply, server: remote.server, path: path)
        case .failure(let error): throw CommandFailure(error, server: remote.server, repeatable: true)
        }
    }
}
