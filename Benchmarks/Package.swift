// swift-tools-version: 6.2
import PackageDescription

// LRUCache is measured beside ours where LRUCACHE_PATH names a checkout of nicklockwood/LRUCache; no line of it is
// needed otherwise.
let lruCache = Context.environment["LRUCACHE_PATH"]
let lruCachePackage: [Package.Dependency] = lruCache.map { [.package(name: "LRUCache", path: $0)] } ?? []
let lruCacheProduct: [Target.Dependency] = lruCache == nil ? [] : [.product(name: "LRUCache", package: "LRUCache")]
let lruCacheFlag: [SwiftSetting] = lruCache == nil ? [] : [.define("LRUCACHE")]

// A separate package, so that no user of Freshet gets the dependencies of the measurements.
let package = Package(
    name: "freshet-benchmarks",
    dependencies: [
        .package(name: "freshet", path: ".."),
        .package(name: "freshet-figures", path: "Figures"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ] + lruCachePackage,
    targets: [
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CPointRead", pkgConfig: "sqlite3"),
        .executableTarget(
            name: "FreshetBench",
            dependencies: [
                "CEpoll",
                .product(name: "Figures", package: "freshet-figures"),
                .product(name: "FreshetClient", package: "freshet"),
                .product(name: "FreshetTestKit", package: "freshet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .executableTarget(name: "LatencyFloor"),
        .executableTarget(
            name: "DeviceBench",
            dependencies: [
                .product(name: "FreshetClient", package: "freshet"), .product(name: "FreshetTestKit", package: "freshet"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "DiskBench",
            dependencies: ["CPointRead", .product(name: "FreshetCache", package: "freshet")],
            exclude: ["peer.py"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "CacheBench",
            dependencies: [
                "CMalloc",
                .product(name: "FreshetCache", package: "freshet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + lruCacheProduct,
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + lruCacheFlag
        ),
    ]
)
