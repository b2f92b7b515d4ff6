import FreshetFaultProxy
import FreshetWire
import Testing

@Suite("Faults over HTTP") struct FaultEndpointTests {
    private static let put = #"{"client":"phone","writes":[{"number":1,"op":"increment","key":"c/1","path":"","by":1}]}"#
    private static let next = #"{"client":"phone","writes":[{"number":2,"op":"increment","key":"c/1","path":"","by":1}]}"#

    private func arm(_ server: TestFaultServer, _ fault: String, in namespace: String = "shop") async throws {
        let reply = try await server.request("POST", "/v1/\(namespace)/faults", TestFaultServer.json, fault)
        #expect(reply.status == 201 && reply.cursor != nil, "\(reply.body)")
    }

    @Test func aLostAcknowledgementIsOfAWriteThatTookEffect() async throws {
        try await TestFaultServer.with() { server in
            // Given
            try await arm(server, #"{"effect":"drop-reply","on":"writes"}"#)
            // When
            #expect(try await server.rest("POST", "/v1/shop/writes", TestFaultServer.json, Self.put).isEmpty)
            // Then
            #expect(try await server.request("GET", "/v1/shop/records/c/1").body == "1")
            let again = try await server.request("POST", "/v1/shop/writes", TestFaultServer.json, Self.put)
            #expect(again.status == 200)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").body == "1")
        }
    }

    @Test func aLostRequestHasNoEffect() async throws {
        try await TestFaultServer.with() { server in
            try await arm(server, #"{"effect":"drop-request"}"#)
            #expect(try await server.rest("POST", "/v1/shop/writes", TestFaultServer.json, Self.put).isEmpty)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").status == 404)
        }
    }

    @Test func aCutAnswerIsOfARequestThatTookEffect() async throws {
        try await TestFaultServer.with() { server in
            try await arm(server, #"{"effect":"cut-reply","on":"writes"}"#)
            let part = try await server.rest("POST", "/v1/shop/writes", TestFaultServer.json, Self.put)
            #expect(part.hasPrefix("HTTP/1.1 200 OK\r\n") && !part.hasSuffix("}"))
            #expect(try await server.request("GET", "/v1/shop/records/c/1").body == "1")
        }
    }

    @Test func aRequestThatIsHandledTwiceIsAnsweredOnce() async throws {
        try await TestFaultServer.with() { server in
            // Given numbered writes, and a write without a number, each sent twice by the network
            try await arm(server, #"{"effect":"duplicate","times":2}"#)
            // When
            let numbered = try await server.request("POST", "/v1/shop/writes", TestFaultServer.json, Self.put)
            let plain = try await server.request("PUT", "/v1/shop/records/c/2", [], "x")
            // Then the number took effect once, the other twice
            #expect(numbered.status == 200 && numbered.cursor?.revision.number == 1)
            #expect(plain.status == 200 && plain.cursor?.revision.number == 3)
            #expect(try await server.request("POST", "/v1/shop/writes", TestFaultServer.json, Self.next).cursor?.revision.number == 4)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").body == "2")
        }
    }

    @Test func anAnswerOfTheTestsOwn() async throws {
        try await TestFaultServer.with() { server in
            // Given
            try await arm(server, #"{"effect":"answer","status":503,"retryAfter":3,"on":"records"}"#)
            try await arm(server, #"{"effect":"answer","status":418,"on":"records"}"#)
            // When
            let first = try await server.request("PUT", "/v1/shop/records/c/1", [], "x")
            let second = try await server.request("PUT", "/v1/shop/records/c/1", [], "x")
            let third = try await server.request("PUT", "/v1/shop/records/c/1", [], "x")
            // Then
            #expect(first.status == 503 && first["Retry-After"] == "3" && first.problem != nil && first.cursor == nil)
            #expect(second.status == 418 && second.problem != nil)
            #expect(third.status == 201)
        }
    }

    @Test func aDelayIsBeforeOrAfterTheEffect() async throws {
        try await TestFaultServer.with() { server in
            // Given a request and an answer whose delays are longer than the test
            try await arm(server, #"{"effect":"delay-request","milliseconds":60000,"on":"records"}"#)
            try await arm(server, #"{"effect":"delay-reply","milliseconds":30,"on":"writes"}"#)
            async let late = server.request("PUT", "/v1/shop/records/c/2", [], "x")
            #expect(try await server.request("POST", "/v1/shop/writes", TestFaultServer.json, Self.put).status == 200)
            while try await !server.request("GET", "/v1/shop/faults").body.contains(#""strikes":1},{"id":2"#) {}
            #expect(try await server.request("GET", "/v1/shop").message(NamespaceStatus.self).records == 1)
            // When they are cleared
            #expect(try await server.request("DELETE", "/v1/shop/faults").body == #"{"lifted":0}"#)
            // Then the delayed request is handled at once
            #expect(try await late.status == 201)
        }
    }

    @Test func aFrozenRequestIsHeldUntilTheFaultsAreLifted() async throws {
        try await TestFaultServer.with() { server in
            // Given
            try await arm(server, #"{"effect":"freeze","untilLifted":true,"on":"writes"}"#)
            async let frozen = server.rest("POST", "/v1/shop/writes", TestFaultServer.json, Self.put)
            while try await !server.request("GET", "/v1/shop/faults").body.contains(#""strikes":1"#) {}
            // When
            #expect(try await server.request("DELETE", "/v1/shop/faults").body == #"{"lifted":1}"#)
            // Then it ends without an answer and without an effect
            #expect(try await frozen.isEmpty)
            #expect(try await server.request("GET", "/v1/shop/records/c/1").status == 404)
        }
    }

    @Test func aServerThatStopsHoldsNothingBack() async throws {
        // Given a frozen request
        let server = try TestFaultServer()
        try await arm(server, #"{"effect":"freeze"}"#)
        async let frozen = server.rest("POST", "/v1/shop/writes", TestFaultServer.json, Self.put)
        while try await !server.request("GET", "/v1/shop/faults").body.contains(#""strikes":1"#) {}
        // When it stops
        await server.server.stop()
        // Then the request ends
        #expect(try await frozen.isEmpty)
    }

    @Test func faultsKnowDevicesByTheirTokens() async throws {
        try await TestFaultServer.with() { server in
            // Given
            try await server.put("/v1/shop/records/c/1", "1")
            func status(_ token: String) async throws -> Int {
                try await server.request("GET", "/v1/shop/records/c/1", [("Authorization", "Bearer \(token)")]).status
            }
            #expect(try await status("phone.2") == 200)
            // When the phone's tokens expire
            try await arm(server, #"{"effect":"expire-token","device":"phone"}"#)
            // Then only a fresh one is accepted
            for (token, expected) in [("phone.1", 401), ("phone.2", 401), ("laptop.1", 200), ("phone.3", 200)] {
                #expect(try await status(token) == expected, "\(token)")
            }
            #expect(
                try await server.request("GET", "/v1/shop/faults").body
                    == #"{"faults":[{"id":1,"effect":"expire-token","on":"any","device":"phone","generation":2,"untilLifted":true,"strikes":2}]}"#
            )
        }
    }

    @Test func whoeverWaitsAlreadyMeetsTheFaultToo() async throws {
        try await TestFaultServer.with() { server in
            // Given a poll that waits
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            async let waiting = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When a fault is armed
            try await arm(server, #"{"effect":"answer","status":500,"on":"changes"}"#)
            // Then its wait ends with the fault, and the next poll waits
            #expect(try await waiting.status == 500)
            async let next = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            try await server.put("/v1/shop/records/c/2", "1")
            #expect(try await next.status == 200)
        }
    }

    @Test func aStreamIsLetGoAndCut() async throws {
        try await TestFaultServer.with() { server in
            // Given a stream that waits
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            let path = "/v1/shop/changes?since=\(cursor)"
            let (heads, begun) = AsyncStream.makeStream(of: Void.self)
            async let ended = server.thread { connection in
                defer { begun.finish() }
                connection.send("GET", path, [("Accept", "text/event-stream"), ("Connection", "close")])
                let head = try connection.read(through: "\r\n\r\n")
                begun.yield()
                return head + connection.rest()
            }
            // A stream whose head has not passed the proxy would be cut.
            for await _ in heads { break }
            try await server.waitUntil(waiting: 1, in: "shop")
            // When a fault is armed for it
            try await arm(server, #"{"effect":"cut-reply","on":"changes"}"#)
            // Then it ends properly, and the next breaks after its head
            #expect(try await ended.hasSuffix("\r\n0\r\n\r\n"))
            let cut = try await server.rest("GET", path, [("Accept", "text/event-stream")])
            #expect(cut.hasPrefix("HTTP/1.1 200 OK\r\n") && cut.hasSuffix("\r\n\r\n") && !cut.contains("0\r\n\r\n"))
        }
    }

    @Test func aFaultStaysInItsNamespace() async throws {
        try await TestFaultServer.with() { server in
            try await arm(server, #"{"effect":"answer","status":500,"untilLifted":true}"#)
            #expect(try await server.request("PUT", "/v1/other/records/c/1", [], "x").status == 201)
            #expect(try await server.request("PUT", "/v1/shop/records/c/1", [], "x").status == 500)
            // And reaches neither the namespace's status nor the faults
            #expect(try await server.request("GET", "/v1/shop").status == 200)
            #expect(try await server.request("DELETE", "/v1/shop/faults").body == #"{"lifted":1}"#)
            #expect(try await server.request("PUT", "/v1/shop/records/c/1", [], "x").status == 201)
        }
    }

    @Test func aResetBeginsANewHistoryWithTheSameRecords() async throws {
        try await TestFaultServer.with() { server in
            // Given a poll that waits
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            async let waiting = server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=60")
            try await server.waitUntil(waiting: 1, in: "shop")
            // When
            let reset = try await server.request("POST", "/v1/shop/faults/reset")
            // Then
            let status: NamespaceStatus = try reset.message()
            #expect(reset.status == 200 && status.cursor.epoch != cursor.epoch && status.records == 1)
            #expect(try await waiting.problem?.code == .epochChanged)
            #expect(try await server.request("POST", "/v1/none/faults/reset").status == 404)
        }
    }

    @Test func aCompactionExpiresOldCursors() async throws {
        try await TestFaultServer.with() { server in
            // Given a cursor from before a delete, which the feed still has in memory
            let cursor = try await server.put("/v1/shop/records/c/1", "1").cursor
            _ = try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=0")
            _ = try await server.request("DELETE", "/v1/shop/records/c/1")
            #expect(try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=0").status == 200)
            // When
            let compacted = try await server.request("POST", "/v1/shop/faults/compact")
            // Then
            #expect(compacted.status == 200 && compacted.body == #"{"forgotten":1}"#)
            #expect(try await server.request("GET", "/v1/shop/changes?since=\(cursor)&wait=0").problem?.code == .cursorExpired)
        }
    }

    @Test func whatIsNoFaultIsRefusedWithWhatWouldBe() async throws {
        try await TestFaultServer.with() { server in
            let reply = try await server.request("POST", "/v1/shop/faults", TestFaultServer.json, #"{"effect":"drop"}"#)
            #expect(reply.status == 400 && reply.problem?.detail.contains("drop-reply") == true)
            #expect(try await server.request("GET", "/v1/shop/faults").body == #"{"faults":[]}"#)
        }
    }

    @Test func aPageOfAnotherOriginArmsNothing() async throws {
        try await TestFaultServer.with { server in
            for (method, fields) in [
                ("POST", [("Origin", "https://evil.example")]), ("DELETE", [("Sec-Fetch-Site", "cross-site")]),
            ] {
                let reply = try await server.request(method, "/v1/shop/faults", TestFaultServer.json + fields, #"{"effect":"freeze"}"#)
                #expect(reply.status == 403 && reply.problem?.code == .forbidden)
            }
            #expect(try await server.request("POST", "/v1/shop/faults", [], #"{"effect":"freeze"}"#).status == 415)
            #expect(try await server.request("PUT", "/v1/shop/faults", [], "x").status == 405)
            #expect(try await server.request("GET", "/v1/shop/faults/none").status == 404)
            #expect(try await server.request("GET", "/v1/shop/faults").body == #"{"faults":[]}"#)
        }
    }

    @Test func theServersOwnContractHasNoFaults() async throws {
        try await TestFaultServer.with { server in
            let document = try await server.request("GET", "/openapi.json").body
            #expect(document.contains("openapi") && !document.contains("faults"))
        }
    }
}
