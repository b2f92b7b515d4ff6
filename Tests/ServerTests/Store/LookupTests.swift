import Dispatch
import Foundation
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Lookups of records") struct LookupTests {
    @Test(arguments: StoreKind.allCases)
    func aValueAboveTheBoundIsLeftOut(_ kind: StoreKind) throws {
        // Given values of no byte and of ten, and a tombstone
        let fixture = try StoreFixture(kind)
        let image = Content(bytes: Array(repeating: 7, count: 10), type: "image/png")
        try fixture.write("c/ten", .put(image))
        try fixture.write("c/none", .put(Content(bytes: [], type: "image/png")))
        try fixture.put("c/deleted", "1")
        try fixture.write("c/deleted", .delete)
        func look(_ key: String, valueBytes: Int) throws -> Record? {
            try fixture.store.record(RecordKey(key), in: fixture.namespace, for: nil, valueBytes: valueBytes).value
        }
        for bound in [10, ReadBounds.lookupValueBytes, ReadBounds.lookupValueBytes + 1, .max] {
            // When the bound is not below, Then the value is there
            #expect(try look("c/ten", valueBytes: bound)?.content == image)
            #expect(try look("c/deleted", valueBytes: bound) == nil)
        }
        for bound in [-1, 0, 9] {
            // When it is below, Then all but the value is
            let record = try #require(try look("c/ten", valueBytes: bound))
            #expect(record.content == nil && record.size == 10 && record.contentType == "image/png" && record.revision.number == 1)
            #expect(try look("c/deleted", valueBytes: bound) == nil)
        }
        #expect(try look("c/none", valueBytes: 0)?.content?.bytes == [])
    }

    @Test func theyDoNotWaitForAReaderThatIsHeld() throws {
        // Given a store all of whose readers are held, as by long scans
        let directory = TemporaryDirectory()
        let store = try SQLiteRecordStore(directory: directory.file("data"), seed: 1, readers: 1)
        let (namespace, key, client) = (try Namespace("shop"), try RecordKey("c/1"), try ClientIdentifier("phone"))
        try GroupCommit.commit(
            [.single(SingleWrite(key: key, operation: .put(json: "1")), in: namespace) { _ in }],
            to: store, at: WriteTime(milliseconds: 0), editLimit: 1_000
        ).complete()
        let found = Mutex<[Int64]>([])
        let isDone = DispatchSemaphore(value: 0)
        let isInTime = try store.read { _ in
            // When event loops look up what they answer by themselves
            Thread.detachNewThread {
                let record = try? store.record(key, in: namespace, for: client, valueBytes: ReadBounds.lookupValueBytes)
                let state = try? store.state(of: namespace)
                let last = try? store.lastWrite(of: client, in: namespace)
                found.withLock { $0 = [record?.value?.revision.number ?? -1, state?.head.number ?? -1, last?.value ?? -1] }
                isDone.signal()
            }
            return isDone.wait(timeout: .now() + 60) == .success
        }
        // Then they are answered meanwhile
        #expect(isInTime)
        #expect(found.withLock { $0 } == [1, 1, 0])
    }
}
