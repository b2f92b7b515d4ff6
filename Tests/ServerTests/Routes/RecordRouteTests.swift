import FreshetWire
import Testing

@testable import FreshetServer

@Suite("One record over HTTP", .overBothStores) struct RecordRouteTests {
    private let json = [("Content-Type", "application/json")]

    @Test func aValueComesBackAsItsOwnBytes() async throws {
        try await TestServer.with { server in
            // When
            let created = try await server.request("PUT", "/v1/shop/records/fruits/apple", json, #"{"price": 3}"#)
            let replaced = try await server.request("PUT", "/v1/shop/records/fruits/apple", json, #"{"price": 4}"#)
            let read = try await server.request("GET", "/v1/shop/records/fruits/apple")
            let head = try await server.request("HEAD", "/v1/shop/records/fruits/apple")
            // Then
            #expect(created.status == 201 && replaced.status == 200)
            let receipt = try replaced.message(WriteReceipt.self)
            #expect(receipt.revision?.number == 2)
            #expect(receipt.cursor == replaced.cursor)
            #expect(replaced["ETag"] == receipt.cursor.entityTag)
            #expect(replaced["Cache-Control"] == "no-store")
            #expect(read.status == 200 && read.text == #"{"price": 4}"#)
            #expect(read["Content-Type"] == "application/json")
            #expect(read["ETag"] == receipt.cursor.entityTag)
            #expect(read["Last-Modified"]?.hasSuffix(" GMT") == true)
            #expect(read["Cache-Control"] == "private, no-cache")
            #expect(read.cursor == receipt.cursor)
            #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "12" && head["ETag"] == read["ETag"])
        }
    }

    @Test func valuesOfAnyTypeAndIdsOfAnyText() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/pictures/a%2Fb%20%C3%A9"
            // When
            let created = try await server.request("PUT", path, [("Content-Type", "image/png")], "not json {")
            let read = try await server.request("GET", path)
            let untyped = try await server.request("PUT", "/v1/shop/records/pictures/raw", [], "x")
            // Then
            #expect(try created.message(WriteReceipt.self).key.id == "a/b é")
            #expect(read.text == "not json {" && read["Content-Type"] == "image/png")
            #expect(untyped.status == 201)
            #expect(try await server.request("GET", "/v1/shop/records/pictures/raw")["Content-Type"] == "application/octet-stream")
        }
    }

    @Test func patchMergesAndDeleteRemoves() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/fruits/apple"
            try await server.put(path, #"{"price":3,"stock":1}"#)
            // When
            let patched = try await server.request("PATCH", path, [("Content-Type", "application/merge-patch+json")], #"{"stock":null}"#)
            let value = try await server.request("GET", path)
            let deleted = try await server.request("DELETE", path)
            let gone = try await server.request("GET", path)
            let again = try await server.request("DELETE", path)
            let nothing = try await server.request("PATCH", path, [("Content-Type", "application/merge-patch+json")], "{}")
            // Then
            #expect(patched.status == 200 && value.text == #"{"price":3}"#)
            #expect(deleted.status == 200)
            #expect(try deleted.message(WriteReceipt.self).revision?.number == 3)
            for reply in [gone, again, nothing] {
                #expect(reply.status == 404 && reply.problem?.code == .notFound)
                #expect(reply.cursor == deleted.cursor)
            }
        }
    }

    @Test func preconditionsGuardWrites() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/fruits/apple"
            let first = try await server.request("PUT", path, json + [("If-None-Match", "*")], "1")
            let tag = try #require(first["ETag"])
            // When
            let taken = try await server.request("PUT", path, json + [("If-None-Match", "*")], "2")
            let weak = try await server.request("PUT", path, json + [("If-Match", "W/\(tag)")], "2")
            let listed = try await server.request("PUT", path, json + [("If-Match", "\"other\", \(tag)")], "2")
            let stale = try await server.request("DELETE", path, [("If-Match", tag)])
            let present = try await server.request("PUT", path, json + [("If-Match", "*")], "3")
            let absent = try await server.request("PUT", "/v1/shop/records/fruits/fig", json + [("If-Match", "*")], "3")
            let malformed = try await server.request("PUT", path, json + [("If-Match", "apple")], "3")
            // Then
            #expect(first.status == 201)
            for reply in [taken, weak, stale, absent] {
                #expect(reply.status == 412 && reply.problem?.code == .preconditionFailed)
                #expect(reply.cursor != nil)
            }
            #expect(stale.problem?.current?.content?.bytes == Array("2".utf8))
            #expect(absent.problem?.current == nil)
            #expect(listed.status == 200 && present.status == 200)
            #expect(malformed.status == 400 && malformed.problem?.code == .invalidRequest)
        }
    }

    @Test func preconditionsSpareReads() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/fruits/apple"
            let tag = try await server.put(path, "1").cursor.entityTag
            // When
            let same = try await server.request("GET", path, [("If-None-Match", "\"x\", W/\(tag)")])
            let any = try await server.request("HEAD", path, [("If-None-Match", "*")])
            let other = try await server.request("GET", path, [("If-None-Match", "\"x\"")])
            let failed = try await server.request("GET", path, [("If-Match", "\"x\"")])
            // Then
            for reply in [same, any] {
                #expect(reply.status == 304 && reply.body.isEmpty && reply["ETag"] == tag)
                #expect(reply.cursor != nil)
            }
            #expect(other.status == 200)
            #expect(failed.status == 412 && failed.problem?.code == .preconditionFailed)
        }
    }

    @Test func aNumberedWriteHasItsEffectOnce() async throws {
        try await TestServer.with { server in
            // Given
            let path = "/v1/shop/records/fruits/apple"
            let numbered = { (number: String) in
                [("Freshet-Client", "till-1"), ("Freshet-Write", number), ("Content-Type", "application/json")]
            }
            // When
            let first = try await server.request("PUT", path, numbered("1"), "1")
            let again = try await server.request("PUT", path, numbered("1"), "1")
            let gap = try await server.request("PUT", path, numbered("3"), "3")
            let absent = try await server.request("DELETE", "/v1/shop/records/fruits/fig", numbered("2"))
            let half = try await server.request("PUT", path, [("Freshet-Client", "till-1")], "1")
            let zero = try await server.request("PUT", path, numbered("0"), "1")
            let client = try await server.request("GET", "/v1/shop/clients/till-1")
            // Then
            #expect(first.status == 201)
            #expect(again.status == 200)
            #expect(try again.message(WriteReceipt.self).revision?.number == 1)
            #expect(gap.status == 409 && gap.problem?.code == .writeGap && gap.problem?.expected == 2)
            #expect(gap.cursor != nil)
            #expect(absent.status == 200)
            #expect(try absent.message(WriteReceipt.self).revision == nil)
            #expect(half.status == 400 && zero.status == 400)
            #expect(try client.message(ClientStatus.self).last == 2)
            #expect(client.cursor != nil)
        }
    }

    @Test func whatIsWrongIsSaid() async throws {
        try await TestServer.with { server in
            // When
            let invalid = try await server.request("PUT", "/v1/shop/records/fruits/apple", json, #"{"a":1,}"#)
            let type = try await server.request("PATCH", "/v1/shop/records/fruits/apple", json, "{}")
            let coding = try await server.request("PUT", "/v1/shop/records/fruits/apple", json + [("Content-Encoding", "gzip")], "1")
            let range = try await server.request("PUT", "/v1/shop/records/fruits/apple", json + [("Content-Range", "bytes 0-0/2")], "1")
            let namespace = try await server.request("GET", "/v1/Shop/records/fruits/apple")
            let collection = try await server.request("GET", "/v1/shop/records/fru%20its/apple")
            let client = try await server.request("GET", "/v1/shop/clients/a%20b")
            // Then
            #expect(invalid.status == 400 && invalid.problem?.code == .invalidJSON)
            #expect(invalid.problem?.detail.contains("byte 7") == true)
            #expect(invalid.cursor != nil)
            #expect(type.status == 415 && type.problem?.code == .unsupportedMediaType)
            #expect(type["Accept-Patch"] == "application/merge-patch+json")
            #expect(type.statesPosition)
            #expect(coding.status == 415)
            #expect(range.status == 400)
            #expect(namespace.status == 400 && namespace.problem?.code == .invalidKey && namespace.cursor == nil)
            #expect(collection.status == 400 && collection.problem?.code == .invalidKey && collection.statesPosition)
            #expect(client.status == 400 && client.problem?.code == .invalidKey)
        }
    }
}
