public import FreshetWire

/// Something that a user, a backend or misfortune does in a scenario. Devices are numbered from 0 in the order of ``Scenario/devices``.
public enum ScenarioEvent: Hashable, Sendable {
    /// As a duration, in milliseconds: until something undoes it, or the scenario ends. It is a hundred years, the longest duration there is.
    public static var untilUndone: Int64 { 36_500 * 86_400_000 }

    // MARK: Users of devices

    /// The device's user writes.
    case write(device: Int, RecordKey, WriteOperation, Conflict)
    /// The device's user reads: from the cache, or from the server where nothing is known.
    case read(device: Int, RecordKey)
    /// The device's user reads what the server has now.
    case fetch(device: Int, [RecordKey])
    /// The device's user lists a collection.
    case list(device: Int, String, Listing)
    /// The device's user retries the oldest rejected write that still waits for a decision.
    case retryRejected(device: Int)
    /// The device's user discards the oldest rejected write that still waits for a decision.
    case discardRejected(device: Int)
    /// The device's disk tier evicts a key for lack of room.
    case evict(device: Int, RecordKey)
    /// The user logs out, and in under another account: everything is forgotten.
    case clear(device: Int)

    // MARK: The backend

    /// Someone without a cache writes, as `curl` does.
    case serverWrite(RecordKey, WriteOperation)
    /// The truth elsewhere has changed.
    case invalidate(InvalidationScope)

    // MARK: Devices

    /// A new device appears. One that has been there from the beginning needs none of this.
    case join(device: Int)
    /// The device's process is killed, and started again after so many milliseconds.
    case crash(device: Int, down: Int64)
    /// A process that is dead starts, before its time if it had one.
    case start(Process)
    /// The next process of the device registers its merge closures so many milliseconds after its start.
    case postponeClosures(device: Int, Int64)
    /// From its next start the device follows these collections, or all if there are none, as after an update of its app.
    case follow(device: Int, [String])
    /// The device's disk is copied as it is, as for an image or a snapshot. Nothing happens if writes wait on the disk and its client name
    /// was copied before: the copy could not be distinguished from one that has sent those writes already.
    case copyDisk(device: Int)
    /// The device goes on with the last copy, its own or another device's, as a clone or after a rollback. Nothing happens without a copy, or where
    /// that is of a device that follows something else.
    case replaceDisk(device: Int)
    /// The device sleeps.
    case sleep(device: Int, Int64)
    /// A device that sleeps wakes, before its time if it had one.
    case wake(device: Int)
    /// The network path changes: the device opens a new connection.
    case reconnect(device: Int)
    /// The wall clock of a device, or of the server, is set forward or back.
    case setClock(Process, by: Int64)
    /// The disk of a device, or the server's, does not do what it should for a while.
    case disk(Process, DiskFault, Int64)

    // MARK: The network

    /// Messages are lost silently for a while, in both directions or in one.
    case partition(device: Int, Direction, Int64)
    /// The device cannot reach the server for a while, and each of its requests fails at once.
    case unplug(device: Int, Int64)
    /// All that was wrong with the device's link is over.
    case heal(device: Int)
    /// Messages take fifty times as long for a while.
    case slow(device: Int, Int64)
    /// The device's connections break, and all messages under way are cut.
    case cutConnections(device: Int)
    /// A proxy, the login page of a network or a firewall answers for the server for a while, with this status. Some requests reach the server
    /// all the same, and only the answer does not come back.
    case intercept(device: Int, status: Int, Int64)
    /// Something happens to the next message.
    case messageFault(device: Int, Way, MessageFault)

    // MARK: The server

    /// The server's process is killed, and started again after so many milliseconds.
    case crashServer(down: Int64)
    /// The server refuses all requests of the device for a while.
    case refuse(device: Int, Refusal, Int64)
    /// The device's user may do this from now on, and the device has a new token that says so. The former one stays good, for requests
    /// that are on their way and polls that wait.
    case grant(device: Int, Access)
    /// The device's token is revoked: nothing may be done by it once the server has answered. A fresh one is good.
    case revoke(device: Int)
    /// A back-up is made.
    case backUp
    /// The server goes back to the last back-up, with a new epoch. Without one, nothing happens.
    case restore
    /// A standby takes over, with a new epoch that continues the former one. If it is behind, it has what the last back-up has,
    /// and without one nothing happens; else it has everything.
    case promote(isBehind: Bool)
    /// The process of one server is killed, and started again after so many milliseconds. Servers are numbered from 0.
    case crashOneServer(Int, down: Int64)
    /// The device's connections break, and its requests go to another server from now on.
    case roam(device: Int, server: Int)
    /// Announcements of the other servers do not reach a server as they should for a while.
    case peers(server: Int, PeerFault, Int64)
    /// All deletes and invalidations are forgotten.
    case compact
    /// The namespace is removed with all that is in it.
    case drop

    // MARK: For scenarios that people write

    /// All faults end: links heal, disks work, and processes that are dead or asleep start. The end of a scenario implies it.
    case healAll

    /// The scenario goes on once all is quiet.
    case settle
    /// A claim that must be true at this moment.
    case expect(Expectation)

    /// How a collection is listed.
    public enum Listing: String, Hashable, Sendable, CaseIterable {
        /// The records, from the device where it holds them as the server lists them.
        case records = ""
        /// The ids alone.
        case ids = "ids only"
        /// The records, each read from the server.
        case fresh = "without cache"
        /// For an observer, for whom the device reads what it lacks.
        case observed = "for an observer"
    }

    /// A process with a clock and a disk.
    public enum Process: Hashable, Sendable {
        /// The server.
        case server
        /// A device.
        case device(Int)
    }

    /// How a write that meets a change by someone else is resolved.
    public enum Conflict: String, Hashable, Sendable, CaseIterable {
        /// It takes effect over any record.
        case overwrite
        /// It is refused.
        case reject
        /// The device's user makes one of both; here: a list of the other's value and the own.
        case merge
    }

    /// What a token allows.
    public struct Access: Hashable, Sendable {
        /// The readable ranges; none means nothing.
        public var read: [InvalidationScope]
        /// The writable ranges.
        public var write: [InvalidationScope]
        /// How long each token with these rights is valid, in milliseconds; `nil` for always.
        public var life: Int64?

        /// Everything.
        public static let everything = Access(read: [.everything], write: [.everything])

        /// Rights.
        public init(read: [InvalidationScope], write: [InvalidationScope], life: Int64? = nil) {
            (self.read, self.write, self.life) = (read, write, life)
        }
    }

    /// A fault of a disk.
    public enum DiskFault: String, Hashable, Sendable, CaseIterable {
        /// It has no room.
        case full
        /// It fails.
        case failing
        /// It takes a hundred times as long.
        case slow
        /// Of the server's store alone: it commits or does not, and does not say which.
        case unsure

        /// Those that a device's disk can have.
        static let ofDevices: [DiskFault] = [.full, .failing, .slow]
    }

    /// Which messages a partition stops.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// All.
        case both
        /// Those to the server.
        case requests
        /// Those from the server.
        case replies
    }

    /// Which way the next message goes.
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// To the server.
        case request
        /// To the device.
        case reply
    }

    /// A fault of one message.
    public enum MessageFault: Hashable, Sendable {
        /// It is lost silently.
        case drop
        /// It comes twice, the second time so many milliseconds later.
        case duplicate(after: Int64)
        /// It takes so many milliseconds longer; others overtake it.
        case delay(Int64)
        /// The connection is cut in the middle of it.
        case cut
        /// An intermediary replaces it with another page.
        case garble
    }

    /// A fault of a server's connection to the others.
    public enum PeerFault: String, Hashable, Sendable, CaseIterable {
        /// The server receives nothing, not even its own messages, and no error either.
        case silent
        /// Announcements are lost; messages without any arrive.
        case lost
        /// Each message arrives twice, the second time up to three seconds later.
        case doubled
        /// Messages arrive up to three seconds late, so in any order.
        case late
        /// There is no connection, and the server knows it.
        case cut
    }

    /// How a server refuses requests.
    public enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// 503 with `Retry-After`.
        case overloaded
        /// 401 for the token that the device has; a fresh one is good. It lasts until then: the duration is 0 and means nothing.
        case tokenExpired
        /// 401 for every token.
        case unauthorized
    }
}

/// A claim of a scenario.
public enum Expectation: Hashable, Sendable {
    /// The device shows this value for the key; `nil`: that there is none.
    case shows(device: Int, RecordKey, [UInt8]?)
    /// The device knows nothing of the key.
    case knowsNothing(device: Int, RecordKey)
    /// The key has a write of this device that waits for its verdict, or has none.
    case pending(device: Int, RecordKey, Bool)
    /// The device is live, catching up, or offline.
    case status(device: Int, Standing)
    /// The server has this value; `nil`: that there is none.
    case server(RecordKey, [UInt8]?)

    /// The connection of a device.
    public enum Standing: String, Hashable, Sendable, CaseIterable {
        /// It follows the feed.
        case live
        /// It reads what it missed.
        case catchingUp
        /// It has no contact.
        case offline
    }
}
