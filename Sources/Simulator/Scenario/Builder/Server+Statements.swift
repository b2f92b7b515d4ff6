import FreshetWire

extension Scenario.Server {
    // MARK: The backend

    /// Someone without a cache writes a value, as `curl` does.
    public func puts(_ key: String, _ value: ScenarioValue, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .serverWrite(try .of(key), .put(try value.content())) }
    }

    /// Someone without a cache changes parts of a value: a merge patch (RFC 7396).
    public func merges(_ key: String, _ patch: ScenarioValue, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .serverWrite(try .of(key), .patch(try patch.content().bytes)) }
    }

    /// Someone without a cache deletes a record.
    public func deletes(_ key: String, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .serverWrite(try .of(key), .delete) }
    }

    /// Someone without a cache adds to a number.
    /// - Parameters:
    ///   - path: where it is in the record, as a JSON pointer; empty for the whole value.
    ///   - ifThere: whether it is rejected where there is no record.
    ///   - initial: what a missing record begins from; from 0 without it.
    ///   - min: the least that the sum may be.
    ///   - max: the most that the sum may be.
    public func increments(
        _ key: String, _ path: String = "", by amount: Int64 = 1, ifThere: Bool = false, from initial: ScenarioValue? = nil,
        min: Int64? = nil,
        max: Int64? = nil, line: UInt = #line
    ) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in
            .serverWrite(try .of(key), .increment(try .of(path, amount, ifThere, initial, min, max)))
        }
    }

    /// The truth of one record has changed elsewhere.
    public func invalidates(_ key: String, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .invalidate(.key(try .of(key))) }
    }

    /// The truth of a collection has changed elsewhere, or that of the records whose ids begin with the prefix.
    public func invalidates(collection: String, prefix: String = "", line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in
            try RecordKey.check(collection)
            return .invalidate(.collection(collection, prefix: prefix))
        }
    }

    /// The truth of everything has changed elsewhere.
    public func invalidatesEverything(line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .invalidate(.everything) }
    }

    // MARK: Faults

    /// Kills its process, and starts it again after a while; without a duration by ``start(line:)``.
    public func crash(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .crashServer(down: try Duration.milliseconds(time)) }
    }

    /// Starts its process, which is dead.
    public func start(line: UInt = #line) -> ScenarioStatement { statement(line) { () throws(ScenarioError) in .start(.server) } }

    /// Makes its disk full, failing, slow or unsure for a while.
    public func disk(_ trouble: ScenarioEvent.DiskFault, for time: Duration, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .disk(.server, trouble, try time.milliseconds()) }
    }

    /// Sets its wall clock forward.
    public func setClock(forward time: Duration, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .setClock(.server, by: try time.milliseconds()) }
    }

    /// Sets its wall clock back.
    public func setClock(back time: Duration, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .setClock(.server, by: -(try time.milliseconds())) }
    }

    /// Makes a back-up.
    public func backUp(line: UInt = #line) -> ScenarioStatement { statement(line) { () throws(ScenarioError) in .backUp } }

    /// Restores the last back-up, with a new epoch. Without a back-up, nothing happens.
    public func restore(line: UInt = #line) -> ScenarioStatement { statement(line) { () throws(ScenarioError) in .restore } }

    /// Promotes a standby, whose new epoch continues the former one.
    ///
    /// - Parameter isBehind: whether the standby has only what the last back-up has, so that later writes are lost; without a back-up,
    ///   nothing happens then.
    public func promoteStandby(isBehind: Bool = false, line: UInt = #line) -> ScenarioStatement {
        statement(line) { () throws(ScenarioError) in .promote(isBehind: isBehind) }
    }

    /// Forgets all deletes and invalidations.
    public func compact(line: UInt = #line) -> ScenarioStatement { statement(line) { () throws(ScenarioError) in .compact } }

    /// Removes the namespace with all that is in it.
    public func drop(line: UInt = #line) -> ScenarioStatement { statement(line) { () throws(ScenarioError) in .drop } }

    // MARK: Claims

    /// It has this value, as JSON: white space does not matter.
    public func has(_ key: String, _ value: ScenarioValue) -> ScenarioClaim {
        ScenarioClaim { _ throws(ScenarioError) in .server(try .of(key), try value.content().bytes) }
    }

    /// It has no record.
    public func hasNothing(at key: String) -> ScenarioClaim {
        ScenarioClaim { _ throws(ScenarioError) in .server(try .of(key), nil) }
    }

    private func statement(
        _ line: UInt, _ event: @escaping @Sendable () throws(ScenarioError) -> ScenarioEvent
    ) -> ScenarioStatement {
        ScenarioStatement(line) { _ throws(ScenarioError) in .incident(try event()) }
    }
}
