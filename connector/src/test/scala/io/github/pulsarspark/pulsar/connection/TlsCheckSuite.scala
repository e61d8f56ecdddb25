package io.github.pulsarspark.pulsar.connection

import java.net.{InetAddress, InetSocketAddress, ServerSocket}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.locks.LockSupport

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

/** Tests how long the check of certificates takes. Integration tests show that the right ones are trusted. */
class TlsCheckSuite extends UnitSuite {

  private val localhost = InetAddress.getLoopbackAddress

  /** Hosts that take connections and never say anything. */
  private val silent =
    FunFixture[Seq[ServerSocket]](_ => Seq.fill(6)(new ServerSocket(0, 50, localhost)), _.foreach(_.close()))

  private def url(hosts: ServerSocket*) =
    hosts.map(h => s"127.0.0.1:${h.getLocalPort}").mkString("pulsar+ssl://", ",", "")

  private def options(url: String, more: (String, String)*) =
    ClientOptions(CheckedOptions(Map("service.url" -> url, "topic" -> "t") ++ more, Scope.BatchRead, _ => Nil))

  private def timed[A](body: => A): (A, FiniteDuration) = {
    val began = System.nanoTime()
    (body, (System.nanoTime() - began).nanos)
  }

  /** Six silent hosts cost more if they are waited for one after the other. */
  private val limit = TlsCheck.Timeout * 5

  private def threads =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName.startsWith("pulsar-spark: certificate of"))

  silent.test("silent hosts cost a few seconds together, and leave no thread behind") { hosts =>
    val (problem, took) =
      timed(TlsCheck.problem(options(url(hosts: _*), "operationTimeoutMs" -> "60000"), url(hosts: _*)))
    assertEquals(problem, None)
    assert(took < limit, took)
    val deadline = System.nanoTime() + 60.seconds.toNanos
    while (threads.nonEmpty) {
      assert(System.nanoTime() < deadline, threads.map(_.getName))
      LockSupport.parkNanos(1.milli.toNanos)
    }
  }

  silent.test("an untrusted host is reported, whichever other host is silent") { hosts =>
    val plain  = new ServerSocket(0, 50, localhost)
    val thread = new Thread(() => {
      val socket = plain.accept()
      socket.getOutputStream.write("this is no TLS".getBytes)
      socket.getInputStream.read()
      socket.close()
    })
    thread.setDaemon(true)
    thread.start()
    try {
      val all             = url(hosts.take(3) ++ Seq(plain) ++ hosts.drop(3): _*)
      val (problem, took) = timed(TlsCheck.problem(options(all), all))
      val host            = s"127.0.0.1:${plain.getLocalPort}"
      assertEquals(problem.map(_.occurrence("Connecting", all).condition.name), Some("PULSAR_TLS_FAILED.NO_TLS"))
      assert(problem.exists(_.cause.startsWith(s"$host does not speak TLS (")), problem.map(_.cause))
      assert(took < limit, took)
    } finally plain.close()
  }

  test("certificates to trust in a file without an end are refused by the name of the option") {
    val address = "pulsar+ssl://127.0.0.1:1"
    val e       = intercept[RuntimeException with PulsarError](
      TlsCheck.certificate(options(address, "tls.trustCertsFile" -> "/dev/zero"), ServiceHost("127.0.0.1", 1))
    )
    assertEquals((e.condition, e.parameters("option")), ("PULSAR_FILE_UNREADABLE", "tls.trustCertsFile"))
  }

  test("a slow look-up of a name costs no more") {
    val end = new CountDownLatch(1)
    try {
      val address         = "pulsar+ssl://far.example:6651,far.example:6652"
      val (problem, took) =
        timed(TlsCheck.problem(options(address), address,
          host => { end.await(); new InetSocketAddress(localhost, host.port) }))
      assertEquals(problem, None)
      assert(took < limit, took)
    } finally end.countDown()
  }

  test("nothing is checked without TLS or with TLS settings of others") {
    def problem(url: String, more: (String, String)*) =
      TlsCheck.problem(options(url, more: _*), url, _ => throw new AssertionError("a host was looked up"))
    assertEquals(problem("pulsar://h:1"), None)
    assertEquals(problem("pulsar+ssl://h:1", "tls.insecureTrustAnyCertificate" -> "true"), None)
  }
}
