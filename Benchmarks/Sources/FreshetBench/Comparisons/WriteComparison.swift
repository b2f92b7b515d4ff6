import Figures
import Foundation

/// Durable writes a second, each answered when it is on disk, with 64 connections.
struct WriteComparison {
    let environment: BenchmarkEnvironment

    private static let keys = 1_000

    func measure() throws {
        var ours: [Double] = []
        var batches: [Double] = []
        var etcd: [Double] = []
        var redis: [Double] = []
        var pipelined: [Double] = []
        for _ in 0..<environment.rounds {
            try using(environment.freshFreshet()) {
                ours.append(try Self.puts(environment, $0, keys: Self.keys, seconds: environment.seconds(4)))
            }
            try using(environment.redis(isDurable: true)) { redis.append(try benchmark($0, pipeline: 1)) }
            try using(environment.etcd()) { etcd.append(try grpc($0)) }
            try using(environment.freshFreshet()) { server in
                var load = try BatchLoad(
                    port: server.port, namespace: "bench", connections: 64, batch: 16, records: Self.keys, bytes: 100, run: "batch")
                batches.append(try load.run(seconds: environment.seconds(4)))
            }
            try using(environment.redis(isDurable: true)) { pipelined.append(try benchmark($0, pipeline: 16)) }
        }
        environment.report(Figure("writes-puts-per-s-vs-etcd", ours: ours, peer: etcd))
        environment.report(Figure("writes-puts-per-s-vs-redis", ours: ours, peer: redis))
        environment.report(Figure("writes-batch16-per-s-vs-redis", ours: batches, peer: redis))
        environment.report(Figure("writes-batch16-per-s-vs-redis-pipelined", ours: batches, peer: pipelined))
    }

    /// `PUT`s of 100 bytes a second, to random ones of that many records.
    static func puts(_ environment: BenchmarkEnvironment, _ server: RunningServer, keys: Int, seconds: Double) throws -> Double {
        let script = try environment.file(
            "puts.lua",
            """
            local requests, next = {}, 0
            function init(arguments)
              math.randomseed(1)
              for index = 1, 20000 do
                requests[index] = wrk.format("PUT", "/v1/bench/records/load/" .. math.random(0, \(keys - 1)),
                  {["Content-Type"] = "application/json"}, '\(HTTPRequest.value(bytes: 100))')
              end
            end
            function request()
              next = next % #requests + 1
              return requests[next]
            end

            """)
        let text = try environment.output(
            of: ["wrk", "-t1", "-c64", "-d\(max(1, Int(seconds.rounded())))s", "-s", script, "http://127.0.0.1:\(server.port)/"])
        guard let rate = LoadReport.wrk(text) else { throw BenchError.noFigure("wrk", text) }
        return rate
    }

    private func benchmark(_ server: RunningServer, pipeline: Int) throws -> Double {
        let count = (environment.isQuick ? 40_000 : 200_000) * (pipeline > 1 ? 4 : 1)
        let text = try environment.output(of: [
            "redis-benchmark", "-p", "\(server.port)", "-c", "64", "-n", "\(count)", "-t", "set", "-d", "100", "-r", "\(Self.keys)", "-P",
            "\(pipeline)", "-q",
        ])
        guard let rate = LoadReport.redis(text) else { throw BenchError.noFigure("redis-benchmark", text) }
        return rate
    }

    /// `Put`s by gRPC, eight streams on each of eight connections, as etcd's clients would.
    private func grpc(_ server: RunningServer) throws -> Double {
        let key = Array("customers/1".utf8)
        let value = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
        let message = [0x0a, UInt8(key.count)] + key + [0x12, UInt8(value.count)] + value
        let path = "\(environment.folder)/put.grpc"
        try Data([0, 0, 0, 0, UInt8(message.count)] + message).write(to: URL(filePath: path))
        let text = try environment.output(of: [
            "h2load", "-n", environment.isQuick ? "8000" : "60000", "-c", "8", "-m", "8", "-d", path, "-H",
            "content-type: application/grpc",
            "-H",
            "te: trailers", "http://127.0.0.1:\(server.port)/etcdserverpb.KV/Put",
        ])
        guard let rate = LoadReport.h2load(text) else { throw BenchError.noFigure("h2load", text) }
        return rate
    }
}

/// Stops the server when the closure is through, or has failed.
func using<Result>(_ server: RunningServer, _ body: (RunningServer) throws -> Result) rethrows -> Result {
    defer { server.stop() }
    return try body(server)
}
