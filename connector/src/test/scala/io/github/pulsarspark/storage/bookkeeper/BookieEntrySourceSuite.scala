package io.github.pulsarspark.storage.bookkeeper

import java.net.{InetAddress, ServerSocket}

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.storage.bookkeeper.protocol.WireConnections
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment, SegmentUnreadable}

class BookieEntrySourceSuite extends UnitSuite {

  private val options = ReadOptions(
    CheckedOptions(Map("service.url" -> "pulsar://localhost:1", "topic" -> "t", "pollTimeoutMs" -> "2000"),
      Scope.BatchRead, _ => Nil)
  )

  test("an error after BookKeeper's client took over names the whole time that was waited") {
    Using.resource(new ServerSocket(0, 50, InetAddress.getLoopbackAddress)) { silent => // connects, and answers nothing
      val ledger  = BookieLocation(3, 1, 1, 1, "CRC32C", Seq(0L -> Seq(s"127.0.0.1:${silent.getLocalPort}")), None)
      val segment = Segment(4711, 0, 39, 4000, ledger)
      Using.Manager { use =>
        val source = use(BookieEntrySource.open(ledger, segment, options, use(new WireConnections(options.bookKeeper))))
        val failed = intercept[SegmentUnreadable](source.next())
        assert(failed.getMessage.contains("no answer within 2000 ms (pollTimeoutMs)"), failed.getMessage)
        assertEquals(failed.silent, ledger.bookies)
      }.get
    }
  }
}
