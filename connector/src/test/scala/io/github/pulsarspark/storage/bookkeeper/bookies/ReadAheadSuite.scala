package io.github.pulsarspark.storage.bookkeeper.bookies

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment}

class ReadAheadSuite extends PropertySuite {
  private val Window = 1000L

  private def ahead(last: Long, bytes: Long, readAheadBytes: Long = 10 * Window) =
    new ReadAhead(
      Segment(1, 0, last, bytes, BookieLocation(3, 1, 1, 1, "CRC32C", Nil, None)),
      readAheadBytes,
      4,
      Window
    )

  property("windows follow each other to the end, and what is on its way is within the bytes by what came so far") {
    forAll(Gen.choose(0L, 5000L), Gen.choose(0L, 100000L), Gen.listOf(Gen.choose(0, 3000))) { (last, bytes, sizes) =>
      val ahead = this.ahead(last, bytes)
      sizes.foreach(ahead.received)
      val average = if (sizes.isEmpty) bytes / (last + 1) else sizes.map(_.toLong).sum / sizes.size
      val windows = Iterator.iterate((0L, ahead.lastOfWindow(0, last))) { case (_, end) =>
        (end + 1, ahead.lastOfWindow(end + 1, last))
      }
        .takeWhile(_._1 <= last)
        .toList
      windows.foreach { case (first, end) =>
        assert(first <= end && end <= last)
        assert(first == end || (end - first + 1) * average <= Window, (first, end, average))
        assert(end == last || end - first + 1 == 10000 || (end - first + 2) * math.max(1, average) > Window)
      }
      assertEquals(windows.last._2, last)
    }
  }

  test("as many windows as the bytes allow, at least one, and no more than are worth it") {
    val found = Seq(0L, 1L, 999L, 1000L, 2500L, 4000L, Long.MaxValue).map(ahead(9, 100, _).windows)
    assertEquals(found, Seq(1, 1, 1, 1, 2, 4, 4))
  }
}
