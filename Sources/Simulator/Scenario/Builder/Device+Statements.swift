import FreshetWire

/// The actions of a device's user.
extension Scenario.Device {
    /// The user retries the oldest rejected write that still waits for a decision.
    public func retries(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .retryRejected(device: number) }
    }

    /// The user discards the oldest rejected write that still waits for a decision.
    public func discards(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .discardRejected(device: number) }
    }

    /// The user writes a value.
    public func puts(
        _ key: String, _ value: ScenarioValue, onConflict conflict: ScenarioEvent.Conflict = .overwrite, line: UInt = #line
    ) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .write(device: number, try .of(key), .put(try value.content()), conflict)
        }
    }

    /// The user changes parts of a value: a merge patch (RFC 7396).
    public func merges(
        _ key: String, _ patch: ScenarioValue, onConflict conflict: ScenarioEvent.Conflict = .overwrite, line: UInt = #line
    ) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .write(device: number, try .of(key), .patch(try patch.content().bytes), conflict)
        }
    }

    /// The user deletes a record.
    public func deletes(
        _ key: String, onConflict conflict: ScenarioEvent.Conflict = .overwrite, line: UInt = #line
    ) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .write(device: number, try .of(key), .delete, conflict) }
    }

    /// The user adds to a number.
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
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .write(device: number, try .of(key), .increment(try .of(path, amount, ifThere, initial, min, max)), .overwrite)
        }
    }

    /// The user reads: from the cache, or from the server where nothing is known.
    public func reads(_ key: String, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .read(device: number, try .of(key)) }
    }

    /// The user reads what the server has now.
    public func fetches(_ keys: String..., line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            var checked: [RecordKey] = []
            for key in keys { checked.append(try .of(key)) }
            return .fetch(device: number, checked)
        }
    }

    /// The user lists a collection.
    public func lists(_ collection: String, _ listing: ScenarioEvent.Listing = .records, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            try RecordKey.check(collection)
            return .list(device: number, collection, listing)
        }
    }

    /// The disk tier evicts a key for lack of room.
    public func evicts(_ key: String, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .evict(device: number, try .of(key)) }
    }

    /// The user logs out, and in under another account: everything is forgotten.
    public func clear(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .clear(device: number) }
    }

    /// A device that was made with `joinsLater` appears.
    public func join(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .join(device: number) }
    }
}

/// The claims that a scenario can make about a device.
extension Scenario.Device {
    /// It shows this value, as JSON: white space does not matter.
    public func sees(_ key: String, _ value: ScenarioValue) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .shows(device: number, try .of(key), try value.content().bytes) }
    }

    /// It shows that there is no record.
    public func seesNothing(at key: String) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .shows(device: number, try .of(key), nil) }
    }

    /// It shows one of its writes that waits for its verdict.
    public func seesPending(_ key: String) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .pending(device: number, try .of(key), true) }
    }

    /// None of its writes to the key waits for its verdict.
    public func seesSettled(_ key: String) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .pending(device: number, try .of(key), false) }
    }

    /// It does not know whether there is a record.
    public func knowsNothing(of key: String) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .knowsNothing(device: number, try .of(key)) }
    }

    /// It is live, catching up or offline.
    public func `is`(_ standing: Expectation.Standing) -> ScenarioClaim {
        claim { number throws(ScenarioError) in .status(device: number, standing) }
    }

    private func claim(_ make: @escaping @Sendable (Int) throws(ScenarioError) -> Expectation) -> ScenarioClaim {
        ScenarioClaim { cast throws(ScenarioError) in try make(try cast.number(of: self)) }
    }
}

extension JSONPointer {
    static func of(_ text: String) throws(ScenarioError) -> JSONPointer {
        do { return try JSONPointer(text) } catch { throw .invalid(line: nil, error.description) }
    }
}

extension Increment {
    static func of(
        _ path: String, _ amount: Int64, _ ifThere: Bool, _ initial: ScenarioValue?, _ minimum: Int64?, _ maximum: Int64?
    ) throws(ScenarioError) -> Increment {
        Increment(
            path: try .of(path), by: .integer(amount), onMissing: ifThere ? .reject : .create(from: try initial?.content().bytes),
            minimum: minimum.map { .integer($0) },
            maximum: maximum.map { .integer($0) })
    }
}
