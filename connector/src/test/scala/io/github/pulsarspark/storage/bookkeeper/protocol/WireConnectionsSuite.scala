package io.github.pulsarspark.storage.bookkeeper.protocol

import java.io.IOException
import java.net.InetAddress
import java.nio.channels.spi.{AbstractSelector, SelectorProvider}
import java.nio.channels.{DatagramChannel, Pipe, ServerSocketChannel, SocketChannel}
import java.util.concurrent.{CopyOnWriteArrayList, CountDownLatch}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieRanks, HostNames, OldBookies}
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}

/** Tests the connections that the slices of a task share: one to each bookie. */
class WireConnectionsSuite extends PropertySuite {
  import WireReads._

  private val content = payloads(40)
  private val all     = stored(content)

  /** A bookie of BookKeeper 4.16: it closes a connection at what it does not know. */
  private def old(answer: Request => Reply)(request: Request): Reply =
    if (request.isBatch) Reply.Close else answer(request)

  private val tasks = for {
    ledgers  <- Gen.choose(1, 12)
    entries  <- Gen.choose(1, 30)
    seed     <- Gen.long
    isOld    <- Gen.oneOf(true, false)
    shuffled <- Gen.oneOf(true, false)
  } yield (ledgers, entries, seed, isOld, shuffled)

  property(
    "slices that are read at the same time get each its own entries over one connection, whoever gives up in between"
  ) {
    forAll(tasks) { case (ledgers, entries, seed, isOld, shuffled) =>
      val random   = new Random(seed)
      val contents = (0 until ledgers).map(n =>
        n.toLong -> Seq.fill(entries)(random.nextBytes(random.nextInt(2000)))
      ).toMap
      val stores                          = contents.map { case (id, content) => id -> stored(content, ledgerId = id) }
      def answer(request: Request): Reply = gives(stores(request.ledger), _ => 1 + random.nextInt(10))(request)
      val bookie = new ScriptedBookie(if (isOld) old(answer) else answer, Option.when(shuffled)(new Random(seed)))
      Using.resources(bookie, connections()) { (bookie, task) =>
        val sources = contents.keys.toSeq.sorted.map { id =>
          id -> source(ledger("CRC32C", 0L -> Seq(bookie.id)), 0, entries - 1L, task, ledgerId = id)
        }
        val found = mutable.Map.empty[Long, Int].withDefaultValue(0)
        var open  = sources
        while (open.nonEmpty) {
          val (id, source) = open(random.nextInt(open.size))
          val gaveUp       = random.nextInt(40) == 0
          if (gaveUp || !source.next()) {
            source.close()
            open = open.filterNot(_._1 == id)
            if (!gaveUp) assertEquals(found(id), entries)
          } else {
            assertEquals((source.ledgerId, source.entryId), (id, found(id).toLong))
            val bytes = new Array[Byte](source.entry.readableBytes)
            source.entry.getBytes(source.entry.readerIndex, bytes)
            assertEquals(bytes.toSeq, contents(id)(found(id)).toSeq)
            found(id) += 1
          }
        }
        if (found.nonEmpty) assertEquals(bookie.connections, if (isOld) 2 else 1)
      }
    }
  }

  test("a bookie without batch reads is read entry by entry, and from then on by every task, for a while") {
    var now   = 0L
    val known = new Recently[String](10.minutes, () => now)
    val ranks = new BookieRanks
    Using.resource(new ScriptedBookie(old(gives(all)))) { bookie =>
      val one          = ledger("CRC32C", 0L -> Seq(bookie.id))
      def batches: Int = bookie.requests.count(_.isBatch)
      def task(): Unit =
        assertEquals(Using.resource(connections(ranks = ranks, old = known))(readBy(_, one, 3, 39)),
          wanted(content, 3, 39))
      def asksAgain(): Boolean = {
        val (before, asked) = (bookie.connections, batches)
        task()
        assertEquals(bookie.connections - before, if (batches > asked) 2 else 1)
        batches > asked
      }
      assert(asksAgain())
      assert(!ranks.isSlow(bookie.id), "it is taken for slow")
      assert(!asksAgain())
      now += 10.minutes.toNanos
      assert(asksAgain())
    }
  }

  test("a bookie that ends every connection, or refuses whoever asks, is not taken for an old one") {
    val replies: Seq[Request => Reply] = Seq(_ => Reply.Close, old(_ => Reply.Code(102)))
    for (reply <- replies) Using.resource(new ScriptedBookie(reply)) { bookie =>
      val known = OldBookies.none()
      val one   = ledger("CRC32C", 0L -> Seq(bookie.id))
      Using.resource(connections(old = known))(task =>
        intercept[BookieProtocolEntrySource.NoReplicaLeft](readBy(task, one, 0, 39))
      )
      assert(!known.contains(bookie.id))
    }
  }

  test("a connection that ended is replaced, once for an entry, and its bookie is not slow for that") {
    val ranks                             = new BookieRanks
    var calls                             = 0
    def restarts(request: Request): Reply = {
      calls += 1
      if (calls == 2) Reply.Close else gives(all, _ => 10)(request)
    }
    Using.resource(new ScriptedBookie(restarts)) { bookie =>
      assertEquals(read(ledger("CRC32C", 0L -> Seq(bookie.id)), 0, 39, ranks = ranks), wanted(content, 0, 39))
      assertEquals(bookie.connections, 2)
      assert(!ranks.isSlow(bookie.id))
    }
    def dies(request: Request): Reply =
      if (request.entry <= 20 && request.entry + request.count > 20) Reply.Close else gives(all)(request)
    Using.resource(new ScriptedBookie(dies)) { bookie =>
      val one = ledger("CRC32C", 0L -> Seq(bookie.id))
      assertEquals(read(one, 0, 19), wanted(content, 0, 19))
      intercept[BookieProtocolEntrySource.NoReplicaLeft](read(one, 0, 39))
      // at most once for an entry: the end of a connection may take answers with it that had not been read yet
      assert(bookie.connections <= 10, bookie.connections)
    }
  }

  test("entries of other ledgers that had arrived are there when the connection is gone") {
    val other                           = stored(content, ledgerId = 12)
    def answer(request: Request): Reply =
      if (request.ledger == 12) gives(other)(request)
      else if (request.entry < 5) gives(all.take(5))(request) else Reply.Close
    Using.resources(new ScriptedBookie(answer), connections()) { (bookie, task) =>
      val first  = source(ledger("CRC32C", 0L -> Seq(bookie.id)), 0, 39, task, ledgerId = 12)
      val second = source(ledger("CRC32C", 0L -> Seq(bookie.id)), 0, 39, task)
      (0 to 4).foreach(_ => assert(second.next()))
      intercept[BookieProtocolEntrySource.NoReplicaLeft](while (second.next()) ())
      assertEquals(restOf(first), wanted(content, 0, 39, 12))
      first.close()
      second.close()
    }
  }

  test("nothing stays open when a socket cannot be made; that is no fault of the bookie") {
    for (whatFails <- Seq("channel", "selector")) Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      val sockets = new FewSockets(whatFails)
      val ranks   = new BookieRanks
      val one     = ledger("CRC32C", 0L -> Seq(bookie.id))
      Using.resource(new WireConnections(plain.bookKeeper, ranks, OldBookies.none(), HostNames.ofThisJvm, sockets)) {
        task =>
          val failed = intercept[BookieProtocolEntrySource.NoReplicaLeft](readBy(task, one, 0, 39))
          assert(failed.getMessage.contains("Too many open files"), failed.getMessage)
      }
      assert(sockets.made.asScala.forall(!_.isOpen), "a channel is open")
      assert(!ranks.isSlow(bookie.id))
    }
  }

  test("a name server that does not answer costs its deadline, and one thread however often it is asked") {
    val answers = new CountDownLatch(1)
    val asked   = new CopyOnWriteArrayList[String]
    val names   = new HostNames(host => {
      asked.add(host)
      answers.await()
      InetAddress.getLoopbackAddress
    })
    Using.resource(new ScriptedBookie(gives(all))) { good =>
      val both = ledger("CRC32C", 0L -> Seq(s"slow.example:${good.id.split(":")(1)}"))
      try
        Using.resource(connections(names = names)) { task =>
          val hurried = options("pollTimeoutMs" -> "2000") // a quarter of which is for the bookies
          val failed  = intercept[BookieProtocolEntrySource.NoReplicaLeft](readBy(task, both, 0, 39, hurried))
          assert(failed.getMessage.contains("slow.example was not resolved within 500 ms"), failed.getMessage)
          assertEquals(asked.asScala.toSeq, Seq("slow.example"))
          answers.countDown()
          assertEquals(readBy(task, both, 0, 39), wanted(content, 0, 39))
        }
      finally answers.countDown()
    }
  }

  test("an entry larger than a window comes, and its digest is checked, with single reads, too") {
    for (digest <- Seq(DigestType.CRC32C, DigestType.CRC32); isOld <- Seq(true, false)) {
      val large                            = Seq.tabulate(5)(n => Array.fill(2000000)(n.toByte))
      val spoilable                        = stored(large, digest)
      def spoiled(request: Request): Reply = gives(spoilable.updated(3, spoilable(3).updated(1000, 9.toByte)))(request)
      Using.resource(new ScriptedBookie(if (isOld) old(spoiled) else spoiled, None)) { bookie =>
        Using.resource(connections()) { task =>
          val source = WireReads.source(ledger(digest.name, 0L -> Seq(bookie.id)), 0, 4, task)
          (0 to 2).foreach { n =>
            assert(source.next())
            assertEquals(source.entry.getByte(source.entry.readerIndex), n.toByte)
          }
          val failed = intercept[BookieProtocolEntrySource.NoReplicaLeft](source.next())
          assert(failed.getMessage.contains("checksum"), failed.getMessage)
          source.close()
        }
      }
    }
  }

  /** Fails as if this process had too many open files. */
  private final class FewSockets(whatFails: String) extends SelectorProvider {
    val made: CopyOnWriteArrayList[SocketChannel] = new CopyOnWriteArrayList[SocketChannel]
    private val provider                          = SelectorProvider.provider

    override def openSocketChannel(): SocketChannel = {
      if (whatFails == "channel") throw new IOException("Too many open files")
      val channel = provider.openSocketChannel()
      made.add(channel)
      channel
    }

    override def openSelector(): AbstractSelector = throw new IOException("Too many open files")

    override def openDatagramChannel(): DatagramChannel                                = provider.openDatagramChannel()
    override def openDatagramChannel(family: java.net.ProtocolFamily): DatagramChannel =
      provider.openDatagramChannel(family)
    override def openPipe(): Pipe                               = provider.openPipe()
    override def openServerSocketChannel(): ServerSocketChannel = provider.openServerSocketChannel()
  }
}
