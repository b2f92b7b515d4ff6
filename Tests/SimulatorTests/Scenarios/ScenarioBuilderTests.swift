import FreshetSimulator
import FreshetWire
import Testing

/// The example of the doc comment, and that Swift and text say the same.
@Suite struct ScenarioBuilderTests {
    @Test func theExampleReadsLikeTheText() throws {
        // Given the example in Swift
        let a = Scenario.Device("A"), b = Scenario.Device("B", following: .everything)
        let server = Scenario.server
        let scenario = try Scenario {
            a
            b
            a.puts("customers/7", ["name": "Ada"])
            b.partition(for: .seconds(300))
            Wait(.seconds(1))
            a.increments("counters/1", "/n", by: 3)
            server.crash(for: .seconds(2))
            Settle()
            Expect(b.sees("customers/7", ["name": "Ada"]))
            Expect(b.is(.live))
        }
        // Then it equals the text's scenario, and holds
        let text = """
            device A
            device B follows everything
            A puts customers/7 {"name":"Ada"}
            partition B for 5m
            wait 1s
            A increments counters/1 /n by 3
            crash server for 2s
            settle
            expect B sees customers/7 {"name":"Ada"}
            expect B is live

            """
        #expect(scenario.text == text)
        #expect(try Scenario(text: text) == scenario)
        #expect(try Simulation(scenario).run().violation == nil)
    }

    @Test func everyStatementIsTheOneOfTheText() throws {
        let a = Scenario.Device("A"), c = Scenario.Device("C", collections: ["n"], joinsLater: true, hasSmallSteps: true)
        let server = Scenario.server
        let scenario = try Scenario(seed: 3, isServerSmall: true) {
            a.merges("n/1", ["v": nil, "t": [1, 2.5, true, "é\n"]], onConflict: .reject)
            a.deletes("n/1", onConflict: .merge)
            a.increments("n/2")
            a.reads("n/1")
            a.fetches("n/1", "n/2")
            a.lists("n")
            a.lists("n", .observed)
            a.evicts("n/1")
            a.retries()
            a.discards()
            a.postponeClosures(for: .seconds(5))
            a.copyDisk()
            a.replaceDisk()
            a.clear()
            c.join()
            a.unplug()
            a.slow(for: .milliseconds(20))
            a.intercept(with: 413, for: .seconds(5))
            a.intercept(with: 302)
            a.heal()
            a.crash()
            a.start()
            a.sleep()
            a.wake()
            a.reconnect()
            a.cutConnections()
            a.dropNext(.reply)
            a.duplicateNext(.request, by: .seconds(1))
            a.delayNext(.reply, by: .seconds(90))
            a.cutNext(.reply)
            a.garbleNext(.request)
            a.refuseAsOverloaded()
            a.refuseAsUnauthorized(for: .seconds(1))
            a.expireToken()
            a.disk(.full, for: .seconds(5))
            a.setClock(back: .seconds(7200))
            server.puts("n/1", .json(#"{"v": 1}"#))
            server.merges("n/1", ["v": 2])
            server.deletes("n/1")
            server.increments("n/2", by: -4)
            server.invalidates("n/1")
            server.invalidates(collection: "n", prefix: "1")
            server.invalidatesEverything()
            server.crash()
            server.start()
            server.disk(.slow, for: .seconds(1))
            server.setClock(forward: .seconds(60))
            server.backUp()
            server.restore()
            server.compact()
            server.drop()
            for number in 1...2 { Wait(.seconds(number)) }
            a.partition(.replies)
            Expect(a.seesNothing(at: "n/1"))
            Expect(a.seesPending("n/1"))
            Expect(a.seesSettled("n/1"))
            Expect(a.knowsNothing(of: "n/1"))
            Expect(a.is(.catchingUp))
            Expect(server.has("n/1", [:]))
            Expect(server.hasNothing(at: "n/1"))
        }
        #expect(
            scenario.text == #"""
                seed 3
                server small
                device A
                device C follows what it holds in n, small steps, joins later
                A merges n/1 {"v":null,"t":[1,2.5,true,"é\n"]} unless changed
                A deletes n/1 merged if changed
                A increments n/2 by 1
                A reads n/1
                A fetches n/1 n/2
                A lists n
                A lists n for an observer
                A evicts n/1
                A retries
                A discards
                postpone closures of A for 5s
                copy disk of A
                replace disk of A
                clear A
                join C
                unplug A
                slow A for 20ms
                intercept A with 413 for 5s
                intercept A with 302
                heal A
                crash A
                start A
                sleep A
                wake A
                reconnect A
                cut connections of A
                drop next reply to A
                duplicate next request from A by 1s
                delay next reply to A by 90s
                cut next reply to A
                garble next request from A
                refuse A overloaded
                refuse A unauthorized for 1s
                expire token of A
                disk A full for 5s
                clock A back 2h
                server puts n/1 {"v": 1}
                server merges n/1 {"v":2}
                server deletes n/1
                server increments n/2 by -4
                server invalidates n/1
                server invalidates n/1*
                server invalidates everything
                crash server
                start server
                disk server slow for 1s
                clock server forward 1m
                back up server
                restore server
                compact server
                drop server
                wait 3s
                partition A replies
                expect A sees nothing at n/1
                expect A sees n/1 pending
                expect A sees n/1 settled
                expect A knows nothing of n/1
                expect A is catching up
                expect server has n/1 {}
                expect server has nothing at n/1

                """#)
        #expect(try Scenario(text: scenario.text) == scenario)
    }

    @Test func whatIsWrongIsToldWithItsLine() {
        let a = Scenario.Device("A")
        let line = Int(#line)
        var error: ScenarioError?
        do throws(ScenarioError) {
            _ = try Scenario {
                a
                a.puts("nowhere", 1)
            }
        } catch let found { error = found }
        #expect(error == .invalid(line: line + 5, "'nowhere' is no key: it takes collection/id, for example customers/7"))
        #expect(throws: ScenarioError.self) { try Scenario { a.puts("n/1", .json("{")) } }
        #expect(throws: ScenarioError.self) { try Scenario { a.puts("n/1", ["v": .init(floatLiteral: .infinity)]) } }
        #expect(throws: ScenarioError.self) { try Scenario { a.sleep(for: .seconds(-1)) } }
        #expect(throws: ScenarioError.self) { try Scenario { Wait(.seconds(1)) } }
        #expect(throws: ScenarioError.self) { try Scenario { Scenario.Device("server") } }
        #expect(throws: ScenarioError.self) {
            try Scenario {
                a
                Scenario.Device("A", following: .everything)
            }
        }
    }

    @Test func aScenarioThatCannotBeRunIsRefused() {
        #expect(throws: ScenarioError.self) { try Simulation(Scenario(incidents: [.init(.heal(device: 0))])).run(isRecorded: true) }
        #expect(throws: ScenarioError.self) { try Simulation(Scenario(devices: [.init("A"), .init("A")])).run() }
        #expect(throws: ScenarioError.self) { try Simulation(Scenario(incidents: [.init(.crashServer(down: .max))])).run() }
    }
}
