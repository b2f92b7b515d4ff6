import Figures

/// `GET` of a small record a second, with 64 connections and the same load for all.
struct ReadComparison {
    let environment: BenchmarkEnvironment

    func measure() throws {
        var ours: [Double] = []
        var nginx: [Double] = []
        var hummingbird: [Double] = []
        for _ in 0..<environment.rounds {
            try using(environment.freshFreshet()) { server in
                var connection = try Connection(port: server.port)
                try connection.ask(HTTPRequest.put("/v1/bench/records/load/1", HTTPRequest.value(bytes: 130)))
                ours.append(try load(server, "/v1/bench/records/load/1"))
            }
            try using(environment.nginx()) { nginx.append(try load($0, "/r")) }
            if environment.hummingbird != nil { try using(environment.hummingbirdServer()) { hummingbird.append(try load($0, "/r")) } }
        }
        if hummingbird.isEmpty { environment.leaveOut("reads-per-s-vs-hummingbird", "Benchmarks/Peers could not be built") }
        if !hummingbird.isEmpty { environment.report(Figure("reads-per-s-vs-hummingbird", ours: ours, peer: hummingbird)) }
        environment.report(Figure("reads-per-s-vs-nginx", ours: ours, peer: nginx))
    }

    private func load(_ server: RunningServer, _ path: String) throws -> Double {
        let seconds = max(1, Int(environment.seconds(4).rounded()))
        let text = try environment.output(of: ["wrk", "-t1", "-c64", "-d\(seconds)s", "http://127.0.0.1:\(server.port)\(path)"])
        guard let rate = LoadReport.wrk(text) else { throw BenchError.noFigure("wrk", text) }
        return rate
    }
}
