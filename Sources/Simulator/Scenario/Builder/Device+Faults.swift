import FreshetWire

/// Faults of a device. A fault without a duration lasts until another statement ends it.
extension Scenario.Device {
    /// Loses messages silently for a while; without a duration until ``heal(line:)``.
    public func partition(
        _ direction: ScenarioEvent.Direction = .both, for time: Duration? = nil, line: UInt = #line
    ) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .partition(device: number, direction, try Duration.milliseconds(time))
        }
    }

    /// Makes the server unreachable for a while, so that each request fails at once; without a duration until ``heal(line:)``.
    public func unplug(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .unplug(device: number, try Duration.milliseconds(time)) }
    }

    /// Makes messages take fifty times as long; without a duration until ``heal(line:)``.
    public func slow(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .slow(device: number, try Duration.milliseconds(time)) }
    }

    /// Ends all faults of its link, and all refusals.
    public func heal(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .heal(device: number) }
    }

    /// Kills its process, and starts it again after a while; without a duration by ``start(line:)``.
    public func crash(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .crash(device: number, down: try Duration.milliseconds(time)) }
    }

    /// Starts its process, which is dead.
    public func start(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .start(.device(number)) }
    }

    /// Lets its next process register its merge closures so long after its start.
    public func postponeClosures(for time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .postponeClosures(device: number, try time.milliseconds()) }
    }

    /// Lets it follow these collections from its next start, or all if there are none; see ``ScenarioEvent/follow(device:_:)``.
    public func switches(to collections: String..., line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            for collection in collections { try RecordKey.check(collection) }
            return .follow(device: number, collections)
        }
    }

    /// Copies its disk as it is; see ``ScenarioEvent/copyDisk(device:)``.
    public func copyDisk(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .copyDisk(device: number) }
    }

    /// Replaces its disk by the last copy; see ``ScenarioEvent/replaceDisk(device:)``.
    public func replaceDisk(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .replaceDisk(device: number) }
    }

    /// Lets it sleep; without a duration until ``wake(line:)``.
    public func sleep(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .sleep(device: number, try Duration.milliseconds(time)) }
    }

    /// Wakes it.
    public func wake(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .wake(device: number) }
    }

    /// Changes its network path: it opens a new connection.
    public func reconnect(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .reconnect(device: number) }
    }

    /// Lets a proxy, a login page or a firewall answer for the server, with this status; without a duration until ``heal(line:)``.
    public func intercept(with status: Int, for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .intercept(device: number, status: status, try Duration.milliseconds(time))
        }
    }

    /// Breaks its connections and cuts all messages under way.
    public func cutConnections(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .cutConnections(device: number) }
    }

    /// Loses the next message silently.
    public func dropNext(_ way: ScenarioEvent.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .messageFault(device: number, way, .drop) }
    }

    /// Delivers the next message twice.
    public func duplicateNext(_ way: ScenarioEvent.Way, by time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .messageFault(device: number, way, .duplicate(after: try time.milliseconds()))
        }
    }

    /// Delays the next message; others overtake it.
    public func delayNext(_ way: ScenarioEvent.Way, by time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .messageFault(device: number, way, .delay(try time.milliseconds()))
        }
    }

    /// Cuts the connection in the middle of the next message.
    public func cutNext(_ way: ScenarioEvent.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .messageFault(device: number, way, .cut) }
    }

    /// Lets an intermediary replace the next message with another page.
    public func garbleNext(_ way: ScenarioEvent.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .messageFault(device: number, way, .garble) }
    }

    /// Lets the server answer each of its requests with 503 and `Retry-After`; without a duration until ``heal(line:)``.
    public func refuseAsOverloaded(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .refuse(device: number, .overloaded, try Duration.milliseconds(time))
        }
    }

    /// Lets the server answer each of its requests with 401, for every token; without a duration until ``heal(line:)``.
    public func refuseAsUnauthorized(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .refuse(device: number, .unauthorized, try Duration.milliseconds(time))
        }
    }

    /// Expires its current token; the server accepts a fresh one.
    public func expireToken(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .refuse(device: number, .tokenExpired, 0) }
    }

    /// Makes its disk full, failing or slow for a while.
    public func disk(_ trouble: ScenarioEvent.DiskFault, for time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            guard ScenarioEvent.DiskFault.ofDevices.contains(trouble) else {
                throw .invalid(line: nil, "a device's disk is full, failing or slow; only the server's can be \(trouble.rawValue)")
            }
            return .disk(.device(number), trouble, try time.milliseconds())
        }
    }

    /// Sets its wall clock forward.
    public func setClock(forward time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .setClock(.device(number), by: try time.milliseconds()) }
    }

    /// Sets its wall clock back.
    public func setClock(back time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .setClock(.device(number), by: -(try time.milliseconds())) }
    }
}
