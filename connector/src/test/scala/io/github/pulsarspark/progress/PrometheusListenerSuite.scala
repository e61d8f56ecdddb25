package io.github.pulsarspark.progress

import java.net.{ServerSocket, URI}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.time.Instant
import java.util.UUID

import scala.util.Using

import org.apache.spark.{SparkConf, SparkThrowable}

import io.github.pulsarspark.UnitSuite

/** Requests what is served over HTTP. */
class PrometheusListenerSuite extends UnitSuite {
  private val client   = HttpClient.newHttpClient()
  private val endpoint = MetricsEndpoint.shared("127.0.0.1", 0)

  private def response(path: String, method: String = "GET"): HttpResponse[String] = {
    val uri     = URI.create(s"http://127.0.0.1:${endpoint.port}$path")
    val request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build()
    client.send(request, HttpResponse.BodyHandlers.ofString())
  }

  private def listener(host: String, port: String) =
    new PrometheusListener(
      new SparkConf(false).set("spark.pulsar.metrics.host", host).set("spark.pulsar.metrics.port", port)
    )

  test("a query is served until it ends") {
    val run    = UUID.randomUUID()
    val source = SourceReport("Pulsar[clicks]", 1.5, 2.5, Map("pulsarDataLoss" -> "0", "pulsarBacklogEntries" -> "7"))
    endpoint.put(run, QueryReport("clicks", Instant.EPOCH, 3L, 100L, Seq(source)))
    val served = response("/metrics")
    assertEquals(served.statusCode, 200)
    assertEquals(served.headers.firstValue("Content-Type").get, PrometheusText.ContentType)
    assert(served.body.contains("pulsar_spark_backlog_entries{query=\"clicks\",source=\"Pulsar[clicks]\"} 7\n"))
    endpoint.remove(run)
    assertEquals(response("/metrics").body, "")
  }

  test("other paths and methods are refused") {
    assertEquals(Seq("/", "/metrics/secrets", "/metricsx").map(response(_).statusCode), Seq(404, 404, 404))
    assertEquals(response("/metrics", "POST").statusCode, 405)
  }

  test("listeners of several sessions share an address") {
    listener("127.0.0.1", "0")
    assert(MetricsEndpoint.shared("127.0.0.1", 0) eq endpoint)
    assert(Thread.getAllStackTraces.keySet.stream.filter(_.getName == "HTTP-Dispatcher").allMatch(_.isDaemon))
  }

  test("an address that cannot be listened at is named with what to do") {
    Using.resource(new ServerSocket(0)) { taken =>
      val port  = taken.getLocalPort.toString
      val wrong = Seq("127.0.0.1" -> port, "127.0.0.1" -> "http", "127.0.0.1" -> "65536", "not a host" -> "0")
      for ((host, text) <- wrong) {
        val error = intercept[Exception with SparkThrowable](listener(host, text))
        assertEquals(error.getCondition, "PULSAR_METRICS_ADDRESS")
        assert(error.getMessage.contains(text) || error.getMessage.contains(host), error.getMessage)
        assert(error.getMessage.contains("spark.pulsar.metrics.port"), error.getMessage)
      }
    }
  }
}
