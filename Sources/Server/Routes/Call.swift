import FreshetWire
import HTTPTypes
import SocketHTTP

/// One request on its way through a handler.
struct Call: Sendable {
    let core: ServerCore
    let endpoint: Endpoint
    let request: Request
    let exchange: Exchange

    /// Runs the endpoint's handler; what it throws answers the call.
    func handle(_ handler: (Call) throws -> Void) {
        do { try handler(self) } catch { fail(error) }
    }

    func namespace() throws(WireError) -> Namespace { try Namespace(request.parameter("namespace")) }

    func key() throws(WireError) -> RecordKey {
        try RecordKey(collection: request.parameter("collection"), id: request.parameter("id"))
    }

    func respond(_ response: Response) {
        core.metrics.countResponse(endpoint, status: response.status.code)
        exchange.respond(response)
    }

    func respond(json: [UInt8], at cursor: Cursor?) { respond(Response(json: json, at: cursor)) }

    /// Answers with an error, and with the namespace's position, which errors carry too.
    func fail(_ error: any Error, at cursor: Cursor? = nil) {
        respond(response(to: error, at: cursor))
    }

    func response(to error: any Error, at cursor: Cursor? = nil) -> Response {
        core.response(to: error, at: cursor, in: try? namespace())
    }

    /// Runs on the read queue what may take long; an error answers the call.
    func later(isContinuation: Bool = false, _ work: @escaping @Sendable () throws -> Void) {
        core.later(isContinuation: isContinuation, work) { fail($0) }
    }

    /// On the loop what is short, on the read queue what is long enough to hold up others.
    func nowOrLater(_ work: @escaping @Sendable () throws -> Void) {
        guard request.body.count <= 64 << 10 else { return later(work) }
        do { try work() } catch { fail(error) }
    }
}
