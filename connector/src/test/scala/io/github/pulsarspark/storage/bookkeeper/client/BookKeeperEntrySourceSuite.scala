package io.github.pulsarspark.storage.bookkeeper.client

import scala.concurrent.duration._
import scala.util.Using

import io.netty.buffer.ByteBuf
import munit.FunSuite

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.storage.bookkeeper.bookies.OldBookies
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}
import io.github.pulsarspark.storage.bookkeeper.protocol.WireReads._
import io.github.pulsarspark.storage.segment.{BookieLedger, SegmentUnreadable}

/** Reads scripted bookies by BookKeeper's own client. */
class BookKeeperEntrySourceSuite extends FunSuite {

  private val content = payloads(40)
  private val all     = stored(content)
  private val wide    = options("bookkeeper.speculativeReadTimeout" -> "200")

  private def open(
      ledger: BookieLedger,
      first: Long,
      last: Long,
      patience: FiniteDuration = 4.seconds,
      old: Recently[String] = OldBookies.none()
  ): BookKeeperEntrySource = BookKeeperEntrySource.open(ledger, segment(ledger, first, last), wide, patience, old)

  private def textOf(entry: ByteBuf): String = {
    val bytes = new Array[Byte](entry.readableBytes)
    entry.getBytes(entry.readerIndex, bytes)
    new String(bytes, "ISO-8859-1")
  }

  private def rest(source: BookKeeperEntrySource): Found =
    Iterator.continually(source).takeWhile(_.next()).map(s => (s.ledgerId, s.entryId, textOf(s.entry))).toList

  private def read(ledger: BookieLedger, first: Long, last: Long, old: Recently[String] = OldBookies.none()): Found =
    Using.resource(open(ledger, first, last, old = old))(rest)

  private def copies(bookies: ScriptedBookie*) = ledger("CRC32C", 0L -> bookies.map(_.id))

  test("every entry comes once and in order, however many an answer has") {
    Using.resource(new ScriptedBookie(gives(all, r => (r.entry % 5).toInt))) { bookie =>
      assertEquals(read(copies(bookie), 3, 38), wanted(content, 3, 38))
      assert(bookie.requests.forall(r => r.isBatch && r.entry >= 3 && r.entry + r.count - 1 <= 38), bookie.requests)
    }
  }

  test("an entry without its checksum comes from another bookie") {
    val spoiled = all.updated(7, all(7).updated(40, (all(7)(40) ^ 1).toByte))
    Using.resources(new ScriptedBookie(gives(spoiled)), new ScriptedBookie(gives(all))) { (bad, good) =>
      assertEquals(read(copies(bad, good), 0, 39), wanted(content, 0, 39))
    }
  }

  test("an entry that no bookie has: its window is not readable, and nobody is called silent") {
    val short = (request: Request) => if (request.entry < 7) gives(all.take(7))(request) else Reply.Code(2)
    Using.resource(new ScriptedBookie(short)) { bookie =>
      Using.resource(open(copies(bookie), 0, 39)) { source =>
        val failed = intercept[SegmentUnreadable](source.next())
        assert(failed.getMessage.startsWith(s"entry 0 of ledger $LedgerId: "), failed.getMessage)
        assertEquals(failed.silent, Nil)
      }
      assertEquals(read(copies(bookie), 0, 6), wanted(content, 0, 6))
    }
  }

  test("bookies that do not respond are named") {
    Using.resource(new ScriptedBookie(_ => Reply.Silence)) { silent =>
      val one = copies(silent)
      Using.resource(open(one, 0, 39, patience = 500.millis)) { source =>
        val began  = System.nanoTime()
        val failed = intercept[SegmentUnreadable](source.next())
        assert((System.nanoTime() - began).nanos < 4.seconds)
        assertEquals(failed.silent, Seq(silent.id))
      }
    }
  }

  test("a bookie whose host is not known is named") {
    val unknown = "no-such-host.invalid:3181"
    Using.resource(open(ledger("CRC32C", 0L -> Seq(unknown)), 0, 39)) { source =>
      assertEquals(intercept[SegmentUnreadable](source.next()).silent, Seq(unknown))
    }
  }

  test("bookies that knew no reads of many entries are asked for each by itself") {
    Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      val old = OldBookies.none()
      old.add(bookie.id)
      assertEquals(read(copies(bookie), 0, 39, old), wanted(content, 0, 39))
      assertEquals(bookie.requests.map(r => (r.isBatch, r.entry)).sorted, (0L to 39L).map(false -> _))
    }
  }

  test("bookies that close the connection at a read of many entries are remembered") {
    val old = OldBookies.none()
    Using.resource(new ScriptedBookie((r: Request) => if (r.isBatch) Reply.Close else gives(all)(r))) { bookie =>
      assertEquals(read(copies(bookie), 0, 39, old), wanted(content, 0, 39))
      assert(old.contains(bookie.id))
    }
  }

  test("the bookies of a ledger changed while it was written") {
    Using.resources(new ScriptedBookie(gives(all.take(15))), new ScriptedBookie(gives(all))) { (before, after) =>
      val changing = ledger("CRC32C", 0L -> Seq(before.id), 15L -> Seq(after.id))
      assertEquals(read(changing, 3, 39), wanted(content, 3, 39))
    }
  }
}
