import Foundation

/// A server that runs: ours or a peer's.
final class RunningServer {
    let port: UInt16
    /// The process whose processor time and memory are measured.
    let identifier: Int32
    let process: ChildProcess

    init(_ child: ChildProcess, port: UInt16, identifier: Int32? = nil) {
        process = child
        self.port = port
        self.identifier = identifier ?? child.identifier
    }

    var figures: ProcessFigures { ProcessFigures(identifier: identifier) }

    func stop() { process.stop() }
    func kill() { process.kill() }
}

extension BenchmarkEnvironment {
    /// Ours, with its defaults. `data` is a folder's name; its content is kept.
    func freshet(_ data: String, options: [String] = ["--port", "0"]) throws -> RunningServer {
        let child = try ChildProcess([program, "serve", "--data", "\(folder)/\(data)"] + options, log: log)
        guard let line = child.readLine(), let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchError.ended("freshet serve", log: log)
        }
        return RunningServer(child, port: port)
    }

    /// Ours with an empty folder.
    func freshFreshet(_ data: String = "data") throws -> RunningServer {
        try? FileManager.default.removeItem(atPath: "\(folder)/\(data)")
        return try freshet(data)
    }

    /// The least work that a long-poll server can do.
    func floor() throws -> RunningServer {
        let port = try freePort()
        return try started("floor", [try load("limit"), "\(port)"], port)
    }

    /// Redis, tracking or durable: `appendfsync always` is the setting for an answer after an fsync.
    func redis(isDurable: Bool) throws -> RunningServer {
        let port = try freePort()
        let data = "\(folder)/redis-\(port)"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        return try started(
            "redis-server",
            [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--dir", data, "--maxclients", "18500",
                "--appendonly",
                isDurable ? "yes" : "no", "--appendfsync", "always", "--logfile", log,
            ], port)
    }

    func etcd() throws -> RunningServer {
        let (client, peer) = (try freePort(), try freePort())
        let data = "\(folder)/etcd-\(client)"
        return try started(
            "etcd",
            [
                "etcd", "--data-dir", data, "--log-level", "error", "--listen-client-urls", "http://127.0.0.1:\(client)",
                "--advertise-client-urls",
                "http://127.0.0.1:\(client)", "--listen-peer-urls", "http://127.0.0.1:\(peer)",
                "--initial-advertise-peer-urls", "http://127.0.0.1:\(peer)", "--initial-cluster", "default=http://127.0.0.1:\(peer)",
            ], client)
    }

    /// nginx with nchan's long poll at `/poll`, its event source at `/stream`, its publisher at `/publish`, and a file of 130 bytes at `/r`.
    func nginx() throws -> RunningServer {
        let port = try freePort()
        _ = try file("r", String(repeating: "x", count: 130))
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/nginx-\($0);" }
        let configuration = """
            load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1; daemon off; error_log \(log) warn; pid \(folder)/nginx.pid; worker_rlimit_nofile 20000;
            events { worker_connections 18500; }
            http {
              access_log off; keepalive_requests 100000000; nchan_max_reserved_memory 256M; \(temporary.joined(separator: " "))
              server {
                listen 127.0.0.1:\(port) backlog=8192;
                location = /publish {
                  nchan_publisher; nchan_channel_id c; nchan_message_buffer_length 100; nchan_message_timeout 1h;
                }
                location = /poll {
                  nchan_subscriber longpoll; nchan_channel_id c; nchan_subscriber_first_message newest; nchan_subscriber_timeout 0;
                }
                location = /stream { nchan_subscriber eventsource; nchan_channel_id c; nchan_subscriber_first_message newest; }
                location = /r { root \(folder); }
              }
            }

            """
        let path = try file("nginx.conf", configuration)
        let server = try started("nginx", ["nginx", "-e", log, "-c", path], port)
        // nginx listens before it has a worker.
        for _ in 0..<1_000 {
            if let worker = server.figures.child { return RunningServer(server.process, port: port, identifier: worker) }
            usleep(10_000)
        }
        server.stop()
        throw BenchError.notReady("nginx's worker")
    }

    func hummingbirdServer() throws -> RunningServer {
        guard let hummingbird else { throw BenchError.missing("Benchmarks/Peers could not be built") }
        let port = try freePort()
        return try started("Hummingbird", [hummingbird, "\(port)"], port)
    }

    /// Starts it and waits until it accepts connections.
    private func started(_ name: String, _ arguments: [String], _ port: UInt16) throws -> RunningServer {
        let child = try ChildProcess(arguments, log: log)
        for _ in 0..<1_000 {
            if let connection = try? Connection(port: port) {
                close(connection.descriptor)
                return RunningServer(child, port: port)
            }
            usleep(10_000)
        }
        child.stop()
        throw BenchError.notReady(name)
    }

    /// A port that no process listens on at present.
    private func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw LoadError.system("bind", errno) }
        return UInt16(bigEndian: address.sin_port)
    }
}
