package io.github.pulsarspark.storage.bookkeeper

import java.net.{InetAddress, ServerSocket}
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.storage.bookkeeper.protocol.{ScriptedBookie, WireConnections}
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}
import io.github.pulsarspark.storage.bookkeeper.protocol.WireReads.{gives, ledger, payloads, plain, segment, stored}
import io.github.pulsarspark.storage.segment.SegmentUnreadable

class BookieEntrySourceSuite extends UnitSuite {

  private val options = ReadOptions(
    CheckedOptions(Map("service.url" -> "pulsar://localhost:1", "topic" -> "t", "pollTimeoutMs" -> "2000"),
      Scope.BatchRead, _ => Nil)
  )

  test("entries that no bookie gave by the protocol: BookKeeper's client goes on there, and repeats none") {
    val all                             = stored(payloads(9))
    val fails                           = new AtomicBoolean(true)
    def answer(request: Request): Reply =
      if (request.entry == 0) gives(all.take(5))(request)
      else if (fails.getAndSet(false)) Reply.Code(2)
      else gives(all)(request)
    Using.resource(new ScriptedBookie(answer(_))) { bookie =>
      val location = ledger("CRC32C", 0L -> Seq(bookie.id))
      Using.Manager { use =>
        val source =
          use(
            BookieEntrySource.open(location, segment(location, 0, 8), plain, use(new WireConnections(plain.bookKeeper)))
          )
        assertEquals(Iterator.continually(source).takeWhile(_.next()).map(_.entryId).toList, (0L to 8L).toList)
        assert(!fails.get, "the protocol gave all of them")
      }.get
    }
  }

  test("an error after BookKeeper's client took over names the whole time that was waited") {
    Using.resource(new ServerSocket(0, 50, InetAddress.getLoopbackAddress)) { silent => // connects, and answers nothing
      val location = ledger("CRC32C", 0L -> Seq(s"127.0.0.1:${silent.getLocalPort}"))
      Using.Manager { use =>
        val source = use(BookieEntrySource.open(location, segment(location, 0, 39), options,
          use(new WireConnections(options.bookKeeper))))
        val failed = intercept[SegmentUnreadable](source.next())
        assert(failed.getMessage.contains("no answer within 2000 ms (pollTimeoutMs)"), failed.getMessage)
        assertEquals(failed.silent, location.bookies)
      }.get
    }
  }
}
