package io.github.pulsarspark.storage.bookkeeper.bookies

import java.net.InetAddress

import io.github.pulsarspark.UnitSuite

class LocalHostSuite extends UnitSuite {

  test("addresses and names of this machine are here") {
    val own  = InetAddress.getLocalHost
    val here = Seq("127.0.0.1", "127.0.1.1", "localhost", "LocalHost", "[::1]", "[0:0:0:0:0:0:0:1]", own.getHostName,
      own.getHostAddress)
    here.foreach(host => assert(LocalHost.has(s"$host:3181"), host))
  }

  test("others are not, nor what is no address") {
    val elsewhere =
      Seq("192.0.2.1:3181", "[2001:db8::1]:3181", "[zz]:3181", "bookie-7.example:3181", "bookie-7", ":3181", "")
    elsewhere.foreach(bookie => assert(!LocalHost.has(bookie), bookie))
  }
}
