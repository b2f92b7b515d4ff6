import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

extension ServerCore {
    /// Arms a fault. If the fault reaches the feed, ends the waits of the namespace, so that their readers ask again
    /// and meet the fault.
    func arm(_ fault: Fault, in namespace: Namespace, _ board: FaultBoard) -> ArmedFault {
        let armed = board.arm(fault, in: namespace)
        if fault.target.reaches(.changes) { feeds.releaseWaiters(in: namespace) }
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
                    feeds.dropRecent(namespace)
                    // A reader that waits with a filter may be at a position before the forgotten changes: it gets the
                    // current one.
                    feeds.releaseWaiters(in: namespace)
                    completion(Committed(.success(forgotten), committed.cursor))
                }
            })
    }

    // MARK: Routes of a server with test faults

    /// `POST /v1/{ns}/faults`
    @Sendable func armFault(_ context: RequestContext) throws {
        try context.requireJSON()
        let namespace = try context.namespace()
        let armed = arm(try Fault(json: context.request.body), in: namespace, try faultBoard())
        var writer = JSONWriter()
        armed.write(to: &writer)
        context.respond(Response(json: writer.bytes, at: try store.state(of: namespace).cursor, status: .created))
    }

    /// `GET /v1/{ns}/faults`
    @Sendable func listFaults(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("faults")
        writer.beginArray()
        for armed in try faultBoard().armed(in: namespace) { armed.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        context.respond(json: writer.bytes, at: try store.state(of: namespace).cursor)
    }

    /// `DELETE /v1/{ns}/faults`
    @Sendable func liftFaults(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        let count = try faultBoard().lift(namespace)
        context.respond(json: Self.count("lifted", count), at: try store.state(of: namespace).cursor)
    }

    /// `POST /v1/{ns}/faults/reset`
    @Sendable func resetNamespace(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        reset(namespace) { [self] committed in
            do {
                guard try committed.result.get() else { throw Problem(.notFound, "There is no namespace \(namespace)") }
                try respond(context, withStatusOf: namespace)
            } catch { context.fail(error, at: committed.cursor) }
        }
    }

    /// `POST /v1/{ns}/faults/compact`
    @Sendable func compactNamespace(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        compact(namespace) { committed in
            do { context.respond(json: Self.count("forgotten", try committed.result.get()), at: committed.cursor) } catch {
                context.fail(error, at: committed.cursor)
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
