/// What befalls a device. Where a time may be left out, it lasts until something undoes it.
extension Scenario.Device {
    /// Nothing passes for a while, and nobody is told; until ``heal(line:)`` without a time.
    public func partition(
        _ direction: Occurrence.Direction = .both, for time: Duration? = nil, line: UInt = #line
    ) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .partition(device: number, direction, try Duration.milliseconds(time))
        }
    }

    /// It cannot reach the server for a while, and is told so at once; until ``heal(line:)`` without a time.
    public func unplug(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .unplug(device: number, try Duration.milliseconds(time)) }
    }

    /// Messages take fifty times as long; until ``heal(line:)`` without a time.
    public func slow(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .slow(device: number, try Duration.milliseconds(time)) }
    }

    /// All that was wrong with its link, and all that it was refused for, is over.
    public func heal(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .heal(device: number) }
    }

    /// Its process is killed, and started again after a while; with ``start(line:)`` without a time.
    public func crash(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .crash(device: number, down: try Duration.milliseconds(time)) }
    }

    /// Its process, which is dead, starts.
    public func start(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .start(.device(number)) }
    }

    /// Its next process registers its merge closures so long after its start.
    public func postponeClosures(for time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .postponeClosures(device: number, try time.milliseconds()) }
    }

    /// Its disk is copied as it is; see ``Occurrence/copyDisk(device:)``.
    public func copyDisk(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .copyDisk(device: number) }
    }

    /// It goes on with the last copy of a disk; see ``Occurrence/replaceDisk(device:)``.
    public func replaceDisk(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .replaceDisk(device: number) }
    }

    /// It sleeps; until ``wake(line:)`` without a time.
    public func sleep(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .sleep(device: number, try Duration.milliseconds(time)) }
    }

    /// It wakes.
    public func wake(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .wake(device: number) }
    }

    /// Its network path changes: it connects anew.
    public func reconnect(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .reconnect(device: number) }
    }

    /// A proxy, a login page or a firewall answers for the server, with this status; until ``heal(line:)`` without a time.
    public func intercept(with status: Int, for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .intercept(device: number, status: status, try Duration.milliseconds(time))
        }
    }

    /// Its connections break; what was under way is cut.
    public func cutConnections(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .cutConnections(device: number) }
    }

    /// The next message is lost, and nobody is told.
    public func dropNext(_ way: Occurrence.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .mishap(device: number, way, .drop) }
    }

    /// The next message comes twice.
    public func duplicateNext(_ way: Occurrence.Way, by time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .mishap(device: number, way, .duplicate(after: try time.milliseconds()))
        }
    }

    /// The next message takes so much longer; others overtake it.
    public func delayNext(_ way: Occurrence.Way, by time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .mishap(device: number, way, .delay(try time.milliseconds())) }
    }

    /// The connection is cut in the middle of the next message.
    public func cutNext(_ way: Occurrence.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .mishap(device: number, way, .cut) }
    }

    /// Something on the way makes the next message a page of its own.
    public func garbleNext(_ way: Occurrence.Way, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .mishap(device: number, way, .garble) }
    }

    /// The server answers whatever it asks with 503 and `Retry-After`; until ``heal(line:)`` without a time.
    public func refuseAsOverloaded(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .refuse(device: number, .overloaded, try Duration.milliseconds(time))
        }
    }

    /// The server answers whatever it asks with 401, for every token; until ``heal(line:)`` without a time.
    public func refuseAsUnauthorized(for time: Duration? = nil, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in
            .refuse(device: number, .unauthorized, try Duration.milliseconds(time))
        }
    }

    /// The token that it has is good no more; a fresh one is.
    public func expireToken(line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .refuse(device: number, .tokenExpired, 0) }
    }

    /// Its disk is full, failing or slow for a while.
    public func disk(_ trouble: Occurrence.DiskTrouble, for time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .disk(.device(number), trouble, try time.milliseconds()) }
    }

    /// Its wall clock is set.
    public func setClock(forward time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .setClock(.device(number), by: try time.milliseconds()) }
    }

    /// Its wall clock is set back.
    public func setClock(back time: Duration, line: UInt = #line) -> ScenarioStatement {
        ScenarioStatement(line, self) { number throws(ScenarioError) in .setClock(.device(number), by: -(try time.milliseconds())) }
    }
}
