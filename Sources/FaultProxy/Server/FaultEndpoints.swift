import FreshetServer
import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// The routes by which tests in other languages arm faults: docs/protocol.md, "Faults, for tests".
struct FaultEndpoints: Sendable {
    private let injector: FaultInjector
    private let control: ServerControl

    static func router(_ injector: FaultInjector, _ control: ServerControl) -> Router {
        let endpoints = FaultEndpoints(injector: injector, control: control)
        let routes: [(HTTPRequest.Method, String, @Sendable (Request, Namespace) async throws -> Response)] = [
            (.post, "/v1/{namespace}/faults", endpoints.arm),
            (.get, "/v1/{namespace}/faults", endpoints.list),
            (.delete, "/v1/{namespace}/faults", endpoints.clear),
            (.post, "/v1/{namespace}/faults/reset", endpoints.reset),
            (.post, "/v1/{namespace}/faults/compact", endpoints.compact),
        ]
        var router = Router { control.response(to: $0) }
        for (method, pattern, handler) in routes {
            router.on(method, pattern) { request, exchange in
                Task { exchange.respond(await endpoints.response(to: request, handler)) }
            }
        }
        return router
    }

    private func response(
        to request: Request, _ handler: @Sendable (Request, Namespace) async throws -> Response
    ) async -> Response {
        // A page that is refused learns no position.
        do { try control.checkAccess(request) } catch { return control.response(to: error, in: nil) }
        let name = request.parameter("namespace")
        do { return try await handler(request, Namespace(name)) } catch { return control.response(to: error, in: try? Namespace(name)) }
    }

    @Sendable private func arm(_ request: Request, _ namespace: Namespace) throws -> Response {
        try request.requireJSON()
        var writer = JSONWriter()
        injector.arm(try Fault(json: request.body), in: namespace, control).write(to: &writer)
        return try control.response(json: writer.bytes, status: .created, in: namespace)
    }

    @Sendable private func list(_ request: Request, _ namespace: Namespace) throws -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("faults")
        writer.beginArray()
        for armed in injector.armed(in: namespace) { armed.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return try control.response(json: writer.bytes, in: namespace)
    }

    @Sendable private func clear(_ request: Request, _ namespace: Namespace) throws -> Response {
        try control.response(json: Self.count("lifted", injector.clear(namespace)), in: namespace)
    }

    @Sendable private func reset(_ request: Request, _ namespace: Namespace) async throws -> Response {
        guard try await control.reset(namespace) else { throw Problem(.notFound, "There is no namespace \(namespace)") }
        return try control.response(json: control.status(of: namespace).json, in: namespace)
    }

    @Sendable private func compact(_ request: Request, _ namespace: Namespace) async throws -> Response {
        try control.response(json: Self.count("forgotten", await control.compact(namespace)), in: namespace)
    }

    private static func count(_ name: StaticString, _ count: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: 32)
        writer.beginObject()
        writer.member(name, Int64(count))
        writer.endObject()
        return writer.bytes
    }
}
