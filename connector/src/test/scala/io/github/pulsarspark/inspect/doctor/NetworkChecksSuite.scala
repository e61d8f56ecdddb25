package io.github.pulsarspark.inspect.doctor

import java.net.{InetAddress, ServerSocket}

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

class NetworkChecksSuite extends UnitSuite {

  private val fields = (_: String) => Seq("socks5ProxyAddress")

  private def steps(url: String, more: (String, String)*): Map[String, Step] = {
    val options =
      CheckedOptions(Map("service.url" -> url, "topic" -> "t", "operationTimeoutMs" -> "2000") ++ more, Scope.BatchRead,
        fields)
    new Examination(url, 20.seconds, 1.minute)(new NetworkChecks(ClientOptions(options)).all).map(s =>
      s.name -> s
    ).toMap
  }

  private def listening[A](use: Int => A): A =
    Using.resource(new ServerSocket(0, 50, InetAddress.getLoopbackAddress))(s => use(s.getLocalPort))

  /** A port that no test opens, unlike one that was open a moment before. */
  private val closed = 1

  private def conditions(steps: Map[String, Step]) = steps.collect { case (name, Step(_, _, _, _, Some(p))) =>
    name -> p.condition.name
  }

  test("a host that is there") {
    listening { port =>
      val found = steps(s"pulsar://127.0.0.1:$port")
      assertEquals(found.view.mapValues(_.state).toMap,
        Map("name resolves" -> "ok", "port" -> "ok", "TLS" -> "skipped"))
      assertEquals(found("name resolves").detail, "127.0.0.1")
    }
  }

  test("a name that does not resolve is named, and nothing after it is tried") {
    val found = steps("pulsar+ssl://no-such-host.invalid:6651")
    assertEquals(conditions(found), Map("name resolves" -> "PULSAR_UNREACHABLE"))
    assert(found("name resolves").detail.contains("no-such-host.invalid"), found("name resolves").detail)
    assertEquals(found("port").state, "skipped")
    assertEquals(found("TLS").state, "skipped")
  }

  test("a port where nothing listens") {
    val found = steps(s"pulsar://127.0.0.1:$closed")
    assertEquals(conditions(found), Map("port" -> "PULSAR_UNREACHABLE"))
    assert(found("port").detail.contains("refused"), found("port").detail)
  }

  test("one of two hosts is enough, the other is a warning") {
    listening { port =>
      val found = steps(s"pulsar://127.0.0.1:$closed,127.0.0.1:$port")
      assertEquals(found("port").state, "warn")
    }
  }

  test("what a proxy reaches is not tried from here") {
    val found = steps("pulsar://no-such-host.invalid:1", "pulsar.client.socks5ProxyAddress" -> "127.0.0.1:1")
    assertEquals(found.values.map(_.state).toSet, Set("skipped"))
    assert(found("port").detail.contains("pulsar.client.socks5ProxyAddress"), found("port").detail)
  }
}
