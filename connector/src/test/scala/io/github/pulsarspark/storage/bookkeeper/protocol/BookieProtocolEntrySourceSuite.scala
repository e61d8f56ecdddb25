package io.github.pulsarspark.storage.bookkeeper.protocol

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.{Random, Using}

import io.netty.buffer.ByteBuf
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.storage.bookkeeper.bookies.BookieRanks
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}
import io.github.pulsarspark.storage.segment.BookieLocation

class BookieProtocolEntrySourceSuite extends PropertySuite {
  import WireReads._

  private val logs = for {
    sizes  <- Gen.nonEmptyListOf(Gen.frequency(8 -> Gen.choose(0, 300), 1 -> Gen.const(100000)))
    seed   <- Gen.long
    digest <- Gen.oneOf(DigestType.CRC32C, DigestType.CRC32)
    first  <- Gen.choose(0, sizes.size - 1)
    last   <- Gen.choose(first, sizes.size - 1)
    ahead  <- Gen.oneOf("1m", "2m", "64m")
  } yield (sizes, seed, digest, first, last, ahead)

  property("every entry comes once, in order, whatever comes with one answer, and in whatever order answers come") {
    forAll(logs) { case (sizes, seed, digest, first, last, ahead) =>
      val random  = new Random(seed)
      val content = sizes.map(random.nextBytes)
      val answers = gives(stored(content, digest), _ => random.nextInt(20)) _
      val inSome  = Using.resource(new ScriptedBookie(answers, Some(new Random(seed)))) { bookie =>
        val found =
          read(ledger(digest.name, 0L -> Seq(bookie.id)), first.toLong, last.toLong, options("readAheadBytes" -> ahead))
        assertEquals(bookie.requests.map(r => (r.version, r.operation, r.flags, r.ledger)).distinct,
          Seq((2, 7, 0, LedgerId)))
        assert(bookie.requests.forall(r => r.entry >= first && r.entry + r.count - 1 <= last), bookie.requests)
        found
      }
      assertEquals(inSome, wanted(content, first, last))
    }
  }

  private val content = payloads(40)
  private val all     = stored(content)

  private def changed(entry: Int, byte: Int): IndexedSeq[Array[Byte]] =
    all.updated(entry, all(entry).updated(byte, (all(entry)(byte) ^ 1).toByte))

  private def withHead(request: Request)(change: java.nio.ByteBuffer => Any): Reply = {
    val head = ScriptedBookie.head(request, 0, request.id)
    change(head)
    Reply.Bytes(ScriptedBookie.framed(head.array ++ ScriptedBookie.int(all.head.length) ++ all.head))
  }

  /** The silence after which another bookie is read, where a test waits for it: longer than the pauses of a busy
    * machine.
    */
  private val Silence = 3.seconds

  /** Faults of a bookie at entry 7 and later ones, or at all. */
  private val faults: Seq[(String, String, Request => Reply)] = Seq(
    ("has lost an entry", "no such entry",
      request => if (request.entry < 7) gives(all.take(7))(request) else Reply.Code(2)),
    ("has lost the ledger", "no such ledger", _ => Reply.Code(1)),
    ("cannot read its files", "101", _ => Reply.Code(101)),
    ("wants to know who asks", "who asks", _ => Reply.Code(102)),
    ("closes the connection", "closed the connection", _ => Reply.Close),
    ("stops within an answer", "did not answer", _ => Reply.Bytes(ScriptedBookie.int(1000) ++ new Array[Byte](10))),
    ("is silent", "did not answer", _ => Reply.Silence),
    ("has a spoiled payload", "checksum", gives(changed(7, 38))),
    ("has a spoiled head", "checksum", gives(changed(7, 20))),
    ("has a spoiled checksum", "checksum", gives(changed(7, 33))),
    ("gives another entry", s"$LedgerId:8", gives(all.updated(7, all(8)))),
    ("gives an entry of another ledger", "1:7",
      gives(all.updated(7, ScriptedBookie.stored(1, 7, content(7), DigestType.CRC32C)))),
    ("gives nothing", "empty", _ => Reply.Entries(Nil)),
    ("answers another request", "not requested",
      request => Reply.Answering(request.id + 100, all(request.entry.toInt))),
    ("gives far too much", "it announces", _ => Reply.Bytes(ScriptedBookie.int(Int.MaxValue))),
    ("gives less than nothing", "it announces", _ => Reply.Bytes(ScriptedBookie.int(-1))),
    ("gives a short answer", "malformed", _ => Reply.Bytes(ScriptedBookie.framed(new Array[Byte](7)))),
    ("gives half a head", "malformed",
      r => Reply.Bytes(ScriptedBookie.framed(ScriptedBookie.head(r, 0, r.id).array.take(31)))),
    ("answers in another version", "malformed", request => withHead(request)(_.put(0, 3.toByte))),
    (
      "claims too long an entry",
      "malformed",
      r => Reply.Bytes(ScriptedBookie.framed(ScriptedBookie.head(r, 0, r.id).array ++ ScriptedBookie.int(100)))
    ),
    (
      "claims a negative entry",
      "malformed",
      r => Reply.Bytes(ScriptedBookie.framed(ScriptedBookie.head(r, 0, r.id).array ++ ScriptedBookie.int(-5)))
    ),
    (
      "claims too short an entry",
      "malformed",
      r =>
        Reply.Bytes(
          ScriptedBookie.framed(ScriptedBookie.head(r, 0, r.id).array ++ ScriptedBookie.int(4) ++ new Array[Byte](4))
        )
    )
  )

  for ((name, says, fault) <- faults) test(s"a bookie $name: another one goes on") {
    val isSilent = says == "did not answer"
    val stall    = if (isSilent) Silence else Patient
    Using.resources(new ScriptedBookie(fault), new ScriptedBookie(gives(all))) { (bad, good) =>
      val both = ledger("CRC32C", 0L -> Seq(bad.id, good.id))
      for (first <- 0 to (if (isSilent) 0 else 7)) {
        val ranks = new BookieRanks(isHere = _ == bad.id) // it is asked first
        assertEquals(read(both, first.toLong, 39, ranks = ranks, stall = stall), wanted(content, first, 39))
      }
      assert(bad.requests.nonEmpty, "it was never asked")
    }
    Using.resource(new ScriptedBookie(fault)) { bad =>
      val one    = ledger("CRC32C", 0L -> Seq(bad.id))
      val failed = intercept[BookieProtocolEntrySource.NoReplicaLeft](read(one, 0, 39, stall = stall))
      assert(failed.getMessage.contains(says), failed.getMessage)
    }
  }

  test("what came before a fault is not lost and does not come again") {
    Using.resource(new ScriptedBookie(gives(changed(7, 40)))) { bad =>
      val one = ledger("CRC32C", 0L -> Seq(bad.id))
      Using.Manager { use =>
        val source = use(WireReads.source(one, 0, 39, use(connections())))
        (0 to 6).foreach { n => assert(source.next()); assertEquals(source.entryId, n.toLong) }
        (1 to 2).foreach(_ => intercept[BookieProtocolEntrySource.NoReplicaLeft](source.next()))
        assertEquals(source.entryId, 6L)
      }.get
    }
  }

  test("a bookie that cannot be reached or found, or whose id is no address") {
    val refused = Using.resource(new ScriptedBookie(_ => Reply.Silence))(_.id)
    Using.resource(new ScriptedBookie(gives(all))) { good =>
      for (bad <- Seq(refused, "no-such-host.invalid:3181", "bookie-7", "bookie-7:x", ":3181")) {
        val both = ledger("CRC32C", 0L -> Seq(bad, good.id))
        (0 to 3).foreach(first => assertEquals(read(both, first.toLong, 39), wanted(content, first, 39)))
      }
      val named = options("bookieAddresses" -> s"bookie-7=${good.id}")
      assertEquals(read(ledger("CRC32C", 0L -> Seq("bookie-7")), 0, 39, named), wanted(content, 0, 39))
    }
  }

  test("a bookie that kept a task waiting is asked last by the next one") {
    Using.resources(new ScriptedBookie(_ => Reply.Silence), new ScriptedBookie(gives(all))) { (silent, good) =>
      val both  = ledger("CRC32C", 0L -> Seq(silent.id, good.id))
      val ranks = new BookieRanks
      (0 to 7).foreach { first =>
        assertEquals(read(both, first.toLong, 39, ranks = ranks, stall = Silence), wanted(content, first, 39))
      }
      val asked = silent.requests.size
      assert(ranks.isSlow(silent.id) && asked > 0)
      (0 to 7).foreach(first => read(both, first.toLong, 39, ranks = ranks))
      assertEquals(silent.requests.size, asked)
    }
  }

  test("a bookie on this machine is asked first, another one when it fails") {
    Using.resources(new ScriptedBookie(gives(all.take(30))), new ScriptedBookie(gives(all))) { (here, elsewhere) =>
      val both  = ledger("CRC32C", 0L -> Seq(here.id, elsewhere.id))
      val ranks = new BookieRanks(isHere = _ == here.id)
      (0 to 7).foreach(first => assertEquals(read(both, first.toLong, 29, ranks = ranks), wanted(content, first, 29)))
      assertEquals(elsewhere.requests.size, 0)
      assertEquals(read(both, 8, 39, ranks = ranks), wanted(content, 8, 39))
    }
  }

  test("the bookies of a ledger changed while it was written") {
    Using.resources(new ScriptedBookie(gives(all.take(15))), new ScriptedBookie(gives(all))) { (before, after) =>
      val changing = ledger("CRC32C", 0L -> Seq(before.id), 15L -> Seq(after.id))
      assertEquals(read(changing, 3, 39), wanted(content, 3, 39))
      assert(before.requests.forall(r => r.entry + r.count <= 15) && after.requests.forall(_.entry >= 15))
      assertEquals(read(changing, 20, 30), wanted(content, 20, 30))
    }
  }

  test("memory of answers is given back when the next one is read, and at the end") {
    Using.resource(new ScriptedBookie(gives(all, _ => 10))) { bookie =>
      val one    = ledger("CRC32C", 0L -> Seq(bookie.id))
      val task   = connections()
      val source = WireReads.source(one, 0, 39, task)
      val frames = (0 to 39).foldLeft(List.empty[ByteBuf]) { (known, _) =>
        source.next()
        if (known.exists(_ eq source.entry)) known
        else source.entry.retain() :: known // kept, or it would be used again
      }
      assertEquals(frames.map(_.refCnt), List(2, 1, 1, 1))
      source.close()
      assertEquals(frames.map(_.refCnt), List(1, 1, 1, 1))
      frames.foreach(_.release())
      task.close()
    }
  }

  test("a task that is cancelled does not wait on") {
    Using.resource(new ScriptedBookie(_ => Reply.Silence)) { silent =>
      val outcome = new CompletableFuture[String]
      val one     = ledger("CRC32C", 0L -> Seq(silent.id))
      val task    = new Thread(() => {
        try outcome.complete(read(one, 0, 39).toString)
        catch { case e: Throwable => outcome.complete(e.getClass.getSimpleName) }
        ()
      })
      task.start()
      eventually("it was never asked")(silent.requests.nonEmpty)
      task.interrupt()
      assertEquals(outcome.get(60, TimeUnit.SECONDS), "InterruptedException")
    }
  }

  test("what BookKeeper's client has to read") {
    val copied                                                     = ledger("CRC32C", 0L -> Seq("b1:3181", "b2:3181"))
    def fits(ledger: BookieLocation, options: ReadOptions = plain) =
      Using.resource(connections(options)) { task =>
        val found = BookieProtocolEntrySource.of(ledger, segment(ledger, 0, 9), options, task)
        found.foreach(_.close())
        found.isDefined
      }
    assert(fits(copied))
    assert(fits(copied.copy(digestType = "CRC32")))
    assert(!fits(copied.copy(writeQuorum = 1)))
    assert(!fits(copied.copy(digestType = "MAC")))
    assert(!fits(copied.copy(digestType = "DUMMY")))
    assert(!fits(copied, options("bookkeeper.readEntryTimeoutSec" -> "2")))
    assert(!fits(copied, options("bookie.tls.trustCertsFile" -> "/tmp/ca.pem")))
  }
}
