import FreshetWire
import Testing

@testable import freshet

struct ImportPlanTests {
    private func plan(count: Int, valueSize: Int = 10, idField: String = "code", attempt: String = "") throws -> ImportPlan {
        let filler = String(repeating: "x", count: valueSize)
        let json = "[" + (0..<count).map { #"{"code":\#($0),"other":"\#($0)","text":"\#(filler)"}"# }.joined(separator: ",") + "]"
        let bytes = Array(json.utf8)
        return try ImportPlan(try ImportFile(bytes, collection: "c", idField: idField), of: bytes, attempt: attempt)
    }

    @Test func theSameFileIsTheSameClient() throws {
        #expect(try plan(count: 3).client == plan(count: 3).client)
        #expect(try plan(count: 3).client != plan(count: 4).client)
        #expect(try plan(count: 3, attempt: "1").client != plan(count: 3).client)
    }

    @Test func allRecordsGoOnceAndInOrder() throws {
        // Given an import of more than one batch
        let plan = try plan(count: 1_203)
        // When nothing was written before
        let batches = plan.batches(after: 0)
        // Then the numbers run through all batches, which are no longer than they may be
        #expect(batches.flatMap(\.writes).map(\.number) == Array(1...1_203))
        #expect(batches.allSatisfy { (1...ImportPlan.batchCount).contains($0.writes.count) && $0.client == plan.client })
    }

    @Test func anImportThatWasCutOffGoesOn() throws {
        #expect(try plan(count: 1_203).batches(after: 1_200).flatMap(\.writes).map(\.number) == [1_201, 1_202, 1_203])
        #expect(try plan(count: 3).batches(after: 3).isEmpty)
        #expect(try plan(count: 3).batches(after: 9).isEmpty)
    }

    @Test func batchesAreBoundedInBytesToo() throws {
        // Given records of about 300 KB; When they are divided
        let batches = try plan(count: 7, valueSize: 300_000).batches(after: 0)
        // Then no batch has more than a megabyte of them
        #expect(batches.map(\.writes.count) == [3, 3, 1])
    }

    @Test func aRecordLargerThanABatchGoesAlone() throws {
        #expect(try plan(count: 2, valueSize: 2 << 20).batches(after: 0).map(\.writes.count) == [1, 1])
    }
}
