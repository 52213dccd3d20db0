import Testing

@testable import Telemetry

@Suite struct `The metrics` {
    private let metrics = Metrics()

    @Test func `the metrics render counters and gauges in the text format, sorted`() {
        metrics.gauge("urd_queue_length", help: "Commands that wait.").set(3)
        let commits = metrics.counter("urd_commits_total", help: "Batches committed.")
        commits.add()
        commits.add(41)
        commits.add(-1)
        #expect(
            metrics.render() == """
                # HELP urd_commits_total Batches committed.
                # TYPE urd_commits_total counter
                urd_commits_total 42
                # HELP urd_queue_length Commands that wait.
                # TYPE urd_queue_length gauge
                urd_queue_length 3

                """)
    }

    @Test func `the metrics render the series of a family by their labels`() {
        let requests = metrics.counter(
            "urd_requests_total", help: "Requests.", labels: ["route", "status"])
        requests["/token", "400"].add()
        requests["/jwks", "200"].add(2)
        #expect(
            metrics.render().hasSuffix(
                """
                urd_requests_total{route="/jwks",status="200"} 2
                urd_requests_total{route="/token",status="400"} 1

                """))
    }

    @Test func `the metrics escape help and label values`() {
        metrics.counter("a_total", help: "a\\b\n\"c\"", labels: ["l"])["x\"y\\z\n"].add()
        #expect(
            metrics.render() == #"""
                # HELP a_total a\\b\n"c"
                # TYPE a_total counter
                a_total{l="x\"y\\z\n"} 1

                """#)
    }

    @Test func `the metrics count label values over the limit as other`() {
        let family = metrics.counter("a_total", help: "", labels: ["a", "b"], maximumSeries: 3)
        for number in 0..<100 { family["\(number)", "x"].add() }
        let series = metrics.render().split(separator: "\n").dropFirst(2)
        #expect(
            series == [
                #"a_total{a="0",b="x"} 1"#, #"a_total{a="1",b="x"} 1"#,
                #"a_total{a="2",b="x"} 1"#, #"a_total{a="other",b="other"} 97"#,
            ])
    }

    @Test func `the metrics render a histogram with cumulative buckets`() {
        let histogram = metrics.histogram(
            "urd_seconds", help: "Time.", labels: ["route"], buckets: [0.1, 1])
        let series = histogram["/a"]
        series.observe(0.1)
        series.observe(Duration.milliseconds(500))
        series.observe(2.0)
        series.observe(.nan)
        series.observe(.infinity)
        #expect(
            metrics.render() == """
                # HELP urd_seconds Time.
                # TYPE urd_seconds histogram
                urd_seconds_bucket{route="/a",le="0.1"} 1
                urd_seconds_bucket{route="/a",le="1"} 2
                urd_seconds_bucket{route="/a",le="+Inf"} 3
                urd_seconds_sum{route="/a"} 2.6
                urd_seconds_count{route="/a"} 3

                """)
    }

    @Test func `the metrics return the same handle for the same name`() {
        #expect(
            metrics.counter("a_total", help: "") === metrics.counter("a_total", help: ""))
        let family = metrics.gauge("b", help: "", labels: ["l"])
        #expect(family["x"] === metrics.gauge("b", help: "", labels: ["l"])["x"])
    }

    @Test func `the metrics refuse one name for two kinds`() async {
        await #expect(processExitsWith: .failure) {
            let metrics = Metrics()
            _ = metrics.counter("a", help: "")
            _ = metrics.gauge("a", help: "")
        }
    }

    @Test(arguments: ["", "1a", "a-b", "a b", "ä"])
    func `the metrics refuse a name outside the format`(name: String) async {
        await #expect(processExitsWith: .failure) { [name] in
            _ = Metrics().counter(name, help: "")
        }
    }

    @Test func `the metrics count exactly from many tasks`() async {
        let counter = metrics.counter("a_total", help: "")
        let gauge = metrics.gauge("b", help: "")
        let histogram = metrics.histogram("c", help: "")
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<500 {
                        counter.add()
                        gauge.add(1)
                        histogram.observe(1)
                    }
                }
            }
        }
        #expect(counter.value == 10_000)
        #expect(gauge.value == 10_000)
        #expect(metrics.render().contains("c_count 10000\n"))
    }

    @Test func `the metrics spell NaN and infinity as the format asks`() {
        #expect(number(.nan) == "NaN")
        #expect(number(.infinity) == "+Inf")
        #expect(number(-.infinity) == "-Inf")
        #expect(number(1e300) == "1e+300")
        #expect(number(0.25) == "0.25")
    }
}
