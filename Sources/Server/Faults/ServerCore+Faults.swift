import FreshetWire
import HTTPTypes
import SocketHTTP

extension ServerCore {
    /// Arms a fault. If the fault reaches the feed, ends the waits of the namespace, so that their readers ask again
    /// and meet the fault.
    func arm(_ fault: Fault, in namespace: Namespace, _ board: FaultBoard) -> ArmedFault {
        let armed = board.arm(fault, in: namespace)
        if fault.target.reaches(.changes) { hub.letGo(namespace) }
        return armed
    }

    /// Gives the namespace a new epoch and keeps its records. The result is whether the namespace exists.
    func reset(_ namespace: Namespace, then completion: @escaping @Sendable (Committed<Bool>) -> Void) {
        committer.submit(.renewEpoch(of: namespace, seed: environment.random(), then: completion))
    }

    /// Forgets all deletes and invalidations of the namespace, in the store and in memory. The result is how many.
    func compact(
        _ namespace: Namespace, forgotten: Int = 0, then completion: @escaping @Sendable (Committed<Int>) -> Void
    ) {
        committer.submit(
            .forgetDeletes(of: namespace) { [self] committed in
                switch committed.result {
                case .failure(let problem): completion(Committed(.failure(problem), committed.cursor))
                case .success(let step):
                    let forgotten = forgotten + step.forgotten
                    guard step.isComplete else { return compact(namespace, forgotten: forgotten, then: completion) }
                    metrics.forgotten.add(forgotten)
                    hub.forgetRecent(namespace)
                    // A reader that waits with a filter may be at a position before the forgotten changes: it gets the
                    // current one.
                    hub.letGo(namespace)
                    completion(Committed(.success(forgotten), committed.cursor))
                }
            })
    }

    // MARK: Routes of a server with test faults

    /// `POST /v1/{ns}/faults`
    @Sendable func armFault(_ call: Call) throws {
        try call.requireJSON()
        let namespace = try call.namespace()
        let armed = arm(try Fault(json: call.request.body), in: namespace, try faultBoard())
        var writer = JSONWriter()
        armed.write(to: &writer)
        call.respond(Response(json: writer.bytes, at: try store.state(of: namespace).cursor, status: .created))
    }

    /// `GET /v1/{ns}/faults`
    @Sendable func listFaults(_ call: Call) throws {
        let namespace = try call.namespace()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("faults")
        writer.beginArray()
        for armed in try faultBoard().armed(in: namespace) { armed.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        call.respond(json: writer.bytes, at: try store.state(of: namespace).cursor)
    }

    /// `DELETE /v1/{ns}/faults`
    @Sendable func liftFaults(_ call: Call) throws {
        let namespace = try call.namespace()
        let count = try faultBoard().lift(namespace)
        call.respond(json: Self.count("lifted", count), at: try store.state(of: namespace).cursor)
    }

    /// `POST /v1/{ns}/faults/reset`
    @Sendable func resetNamespace(_ call: Call) throws {
        let namespace = try call.namespace()
        reset(namespace) { [self] committed in
            do {
                guard try committed.result.get() else { throw Problem(.notFound, "There is no namespace \(namespace)") }
                try respond(call, withStatusOf: namespace)
            } catch { call.fail(error, at: committed.cursor) }
        }
    }

    /// `POST /v1/{ns}/faults/compact`
    @Sendable func compactNamespace(_ call: Call) throws {
        let namespace = try call.namespace()
        compact(namespace) { committed in
            do { call.respond(json: Self.count("forgotten", try committed.result.get()), at: committed.cursor) } catch {
                call.fail(error, at: committed.cursor)
            }
        }
    }

    private static func count(_ name: StaticString, _ count: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: 32)
        writer.beginObject()
        writer.member(name, Int64(count))
        writer.endObject()
        return writer.bytes
    }

    private func faultBoard() throws(Problem) -> FaultBoard {
        guard let faults else { throw Problem(.notFound, "This server takes no faults: start it with --test-faults") }
        return faults
    }
}
