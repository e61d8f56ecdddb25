package io.github.pulsarspark.storage.bookkeeper.protocol

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.common.NetworkMemory
import io.github.pulsarspark.storage.KilledTasks._
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}

class KilledReadsSuite extends UnitSuite {
  private def buffers: Long  = NetworkMemory.allocator.metric.directArenas.asScala.map(_.numActiveAllocations).sum
  private def selectors: Int = filesOpen(_.contains("eventpoll"))

  test("killed reads of bookies leave no socket, no selector and no memory") {
    val random                         = dice()
    val bytes                          = WireReads.stored(Seq.tabulate(200)(n => Array.fill(5000)(n.toByte)))
    def reply(request: Request): Reply = random.synchronized(random.nextInt(20)) match {
      case 0 => Reply.Close
      case 1 => Reply.Silence
      case 2 => Reply.Bytes(ScriptedBookie.int(1000) ++ new Array[Byte](10))
      case 3 => Reply.Code(2)
      case _ => WireReads.gives(bytes, _ => 7)(request)
    }
    Using.resources(new ScriptedBookie(reply), new ScriptedBookie(reply)) { (one, other) =>
      val ledger       = WireReads.ledger("CRC32C", 0L -> Seq(one.id, other.id))
      def task(): Unit = Using.Manager { use =>
        val connections = use(WireReads.connections())
        Seq.fill(4)(use(WireReads.source(ledger, 0, 199, connections))).foreach(source => while (source.next()) ())
      }.get
      // other suites' clients may still be closing in this JVM: these numbers may fall by themselves, but not rise
      val (buffersBefore, selectorsBefore) = (buffers, selectors)
      killAll(random, isEnough = one.requests.nonEmpty && other.requests.nonEmpty)(task())
      eventually(s"${one.open + other.open} connections are open")(one.open + other.open == 0)
      eventually(s"$buffers buffers are in use, $buffersBefore before")(buffers <= buffersBefore)
      eventually(s"$selectors selectors are open, $selectorsBefore before")(selectors <= selectorsBefore)
    }
  }
}
