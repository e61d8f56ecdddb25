package io.github.pulsarspark.storage.bookkeeper.client

import java.net.InetAddress
import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.common.{NetworkMemory, Recently}
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.storage.bookkeeper.bookies.{HostNames, OldBookies}
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}
import io.github.pulsarspark.storage.bookkeeper.protocol.WireReads._
import io.github.pulsarspark.storage.segment.{BookieLocation, SegmentUnreadable}

/** Reads scripted bookies by BookKeeper's own client. */
class BookKeeperEntrySourceSuite extends UnitSuite {

  private val content = payloads(40)
  private val all     = stored(content)
  private val wide    = options("bookkeeper.speculativeReadTimeout" -> "200")

  private def open(
      ledger: BookieLocation,
      first: Long,
      last: Long,
      patience: FiniteDuration = Patient,
      old: Recently[String] = OldBookies.none()
  ): BookKeeperEntrySource = BookKeeperEntrySource.open(ledger, segment(ledger, first, last), wide, patience, old)

  private def textOf(entry: ByteBuf): String = {
    val bytes = new Array[Byte](entry.readableBytes)
    entry.getBytes(entry.readerIndex, bytes)
    new String(bytes, "ISO-8859-1")
  }

  private def rest(source: BookKeeperEntrySource): Found =
    Iterator.continually(source).takeWhile(_.next()).map(s => (s.ledgerId, s.entryId, textOf(s.entry))).toList

  private def read(ledger: BookieLocation, first: Long, last: Long, old: Recently[String] = OldBookies.none()): Found =
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
      // BookKeeper 4.17 loses the read of many entries: half of the patience passes
      Using.resource(open(copies(bad, good), 0, 39, patience = 8.seconds))(s =>
        assertEquals(rest(s), wanted(content, 0, 39))
      )
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
        assert((System.nanoTime() - began).nanos < 8.seconds) // the client itself waits for 10 s
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

  test("a bookie whose id is no address: it is read where the options say that it is") {
    Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      val one = ledger("CRC32C", 0L -> Seq("bookie-7"))
      val set = options("bookkeeper.speculativeReadTimeout" -> "200", "bookieAddresses" -> s"bookie-7=${bookie.id}")
      Using.resource(BookKeeperEntrySource.open(one, segment(one, 0, 39), set, Patient, OldBookies.none()))(source =>
        assertEquals(rest(source), wanted(content, 0, 39))
      )
    }
  }

  test("the first entries are requested before they are needed, and none beyond the last one") {
    Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      Using.resource(open(copies(bookie), 3, 20)) { _ =>
        eventually("nothing was requested")(bookie.requests.nonEmpty)
        assertEquals(bookie.requests.map(r => (r.entry, r.count)), Seq((3L, 18)))
      }
    }
  }

  test("entries that are larger than their ledger's list made them seem all come, in windows that end early") {
    val large = stored(Seq.tabulate(6)(n => Array.fill(2000000 + n)(n.toByte)))
    Using.resource(new ScriptedBookie(gives(large))) { bookie =>
      Using.resource(open(copies(bookie), 0, 5)) { source =>
        assertEquals(rest(source).map { case (_, id, text) => id -> text.length },
          (0 to 5).map(n => n.toLong -> (2000000 + n)).toList)
      }
    }
  }

  test("memory of entries is given back when those of the next response are read, and at the end") {
    val large = stored(Seq.tabulate(6)(n => Array.fill(400000)(n.toByte)))
    Using.resource(new ScriptedBookie(gives(large, _ => 2))) { bookie =>
      val source  = open(copies(bookie), 0, 5)
      val entries = Seq.fill(6) { assert(source.next()); source.entry.retain() }
      assertEquals(entries.map(_.refCnt), Seq(1, 1, 1, 1, 2, 2))
      source.close()
      assertEquals(entries.map(_.refCnt), Seq.fill(6)(1))
      entries.foreach(_.release())
    }
  }

  test("responses that nobody reads any more leave no memory") {
    // with what the allocator keeps for its threads
    def buffers = NetworkMemory.allocator.metric.directArenas.asScala.map(_.numActiveAllocations).sum
    Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      val one                     = copies(bookie)
      def leave(reads: Int): Unit =
        Using.resource(open(one, 0, 39))(source => (1 to reads).foreach(_ => assert(source.next())))
      leave(1)
      val before = buffers
      for (reads <- Seq(0, 1); _ <- 1 to 200) leave(reads)
      eventually(s"$buffers buffers are in use, $before before")(buffers <= before + 100)
    }
  }

  test("a bookie whose name server does not answer is named before anything is read") {
    val answers = new CountDownLatch(1)
    val names   = new HostNames(_ => { answers.await(); InetAddress.getLoopbackAddress })
    val slow    = "slow.example:3181"
    val one     = ledger("CRC32C", 0L -> Seq(slow))
    def opened  = BookKeeperEntrySource.open(one, segment(one, 0, 39), wide, Patient, names = names)
    try {
      val failed = intercept[SegmentUnreadable](opened.close())
      assert(failed.getMessage.contains(s"the host names of $slow are not resolved"), failed.getMessage)
      assertEquals(failed.silent, Seq(slow))
    } finally answers.countDown()
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
      // BookKeeper's client may send the next requests over the connection that is closing: such a read fails
      def isRead = Try(read(copies(bookie), 0, 39, old)).toOption.contains(wanted(content, 0, 39))
      eventually("it is not remembered")(isRead && old.contains(bookie.id))
      assertEquals(read(copies(bookie), 0, 39, old), wanted(content, 0, 39))
    }
  }

  test("the bookies of a ledger changed while it was written") {
    Using.resources(new ScriptedBookie(gives(all.take(15))), new ScriptedBookie(gives(all))) { (before, after) =>
      val changing = ledger("CRC32C", 0L -> Seq(before.id), 15L -> Seq(after.id))
      assertEquals(read(changing, 3, 39), wanted(content, 3, 39))
    }
  }
}
