package io.github.pulsarspark.pulsar.connection

import java.net.{InetAddress, InetSocketAddress, ServerSocket}

import scala.util.Using

import com.sun.net.httpserver.HttpServer

import io.github.pulsarspark.UnitSuite

/** Tests ports without TLS. Integration tests have one with TLS. */
class PortProtocolSuite extends UnitSuite {

  private val localhost = InetAddress.getLoopbackAddress

  private def protocol(port: Int) = PortProtocol.of(ServiceHost("127.0.0.1", port))

  test("a port of a web server, the protocol is HTTP") {
    val server = HttpServer.create(new InetSocketAddress(localhost, 0), 0)
    server.start()
    try assertEquals(protocol(server.getAddress.getPort), Some(PortProtocol.Http))
    finally server.stop(0)
  }

  test("a server that closes what it does not understand") {
    Using.resource(new ServerSocket(0, 50, localhost)) { server =>
      val thread = new Thread(() =>
        (1 to 2).foreach { _ =>
          val socket = server.accept()
          socket.getInputStream.read()
          socket.close()
        }
      )
      thread.setDaemon(true)
      thread.start()
      assertEquals(protocol(server.getLocalPort), Some(PortProtocol.Other))
    }
  }

  test("a server that is silent, and none at all") {
    Using.resource(new ServerSocket(0, 50, localhost))(server => assertEquals(protocol(server.getLocalPort), None))
    assertEquals(protocol(1), None)
  }

  test("an address with several hosts, one without a port, one in brackets: each host with its port") {
    assertEquals(ServiceHost.of("pulsar+ssl://a:1,b:2").map(_.toString), Seq("a:1", "b:2"))
    assertEquals(ServiceHost.of("pulsar://a").map(_.port), Seq(6650))
    assertEquals(ServiceHost.of("https://[::1]:8443"), Seq(ServiceHost("::1", 8443)))
    assertEquals(ServiceHost("::1", 8443).toString, "[::1]:8443")
  }
}
