package io.github.pulsarspark.storage.bookkeeper

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.Reply
import io.github.pulsarspark.storage.bookkeeper.protocol.WireReads.{gives, payloads, stored => kept}
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment, SegmentUnreadable, StoredLedger}

/** Tests which ledgers [[BookKeeperStore]] takes, where they are, and when it takes them no more. */
class BookKeeperStoreSuite extends UnitSuite {

  private val topic = "persistent://public/default/t-partition-3"
  private val owner = "public/default/persistent/t-partition-3"

  private def options(more: (String, String)*) = ReadOptions(CheckedOptions(
    Map("service.url" -> "pulsar://h:1", "topic" -> "t", "pollTimeoutMs" -> "20000") ++ more,
    Scope.BatchRead,
    _ => Nil
  ))

  private def using[A](more: (String, String)*)(test: BookKeeperStore => A): A =
    Using.resource(new BookKeeperStore(options(more: _*)))(test)

  private def ledger(bookies: String*) =
    BookieLocation(3, bookies.size, bookies.size, 1, "CRC32C", Seq(0L -> bookies), Some(owner))

  private def stored(home: Option[Either[String, BookieLocation]], isOffloaded: Boolean = false) =
    StoredLedger(7, 3, 300, isOffloaded, home)

  private val here = ledger("b1:3181", "b2:3181")

  private val homes = Seq[(String, Option[Either[String, BookieLocation]], Either[String, BookieLocation])](
    ("its metadata is known", Some(Right(here)), Right(here)),
    ("the broker tells no metadata", None, Left("the broker reported no metadata of ledger 7")),
    ("its metadata is not understood", Some(Left("its ensembles are missing")), Left("its ensembles are missing")),
    ("another topic's, as of a shadow topic",
      Some(Right(here.copy(managedLedger = Some("public/default/persistent/t-partition-4")))),
      Left("ledger 7 belongs to public/default/persistent/t-partition-4")),
    ("nobody's", Some(Right(here.copy(managedLedger = None))), Left("ledger 7 belongs to no managed ledger")),
    ("digests with a password", Some(Right(here.copy(digestType = "HMAC"))),
      Left("ledger 7 has the digest type HMAC"))
  ) ++ Seq("CRC32", "DUMMY").map { digest =>
    val such = here.copy(digestType = digest)
    (s"digests of type $digest", Some(Right(such)), Right(such))
  }

  for ((name, home, expected) <- homes) test(s"a ledger, $name: ${expected.fold(identity, _ => "it is on bookies")}") {
    using() { store =>
      val one = stored(home)
      assertEquals(store.locate(Map(topic -> Seq(one)), null)(topic)(one), expected, "without a request")
    }
  }

  test("ledgers that are offloaded are of other stores") {
    using()(store =>
      assertEquals(Seq(false, true).map(is => store.holds(stored(Some(Right(here)), is))), Seq(true, false))
    )
  }

  test("a bookie that reads do not reach is an obstacle, once a read had no answer, unless another has the entries") {
    @volatile var reply: Reply = Reply.Code(1)
    Using.resource(new ScriptedBookie(_ => reply)) { bookie =>
      using("bookieAddresses" -> s"bookie-7=${bookie.id}") { store =>
        val location = ledger("bookie-7")
        assertEquals(store.obstacle(7, location), None)
        reply = Reply.Silence
        assertEquals(store.obstacle(7, location), None, "it answered a moment ago")
        store.failed(new SegmentUnreadable("no answer", null, Seq("another-bookie")))
        assertEquals(store.obstacle(7, location), None, "another one had none")
        store.failed(new SegmentUnreadable("no answer", null, Seq("bookie-7")))
        assertEquals(store.obstacle(7, location), Some("no answer from bookie-7, where ledger 7 is"))
      }
    }
  }

  test("the entries of a segment, from the bookies of its location") {
    val all = kept(payloads(4), ledgerId = 7)
    Using.resource(new ScriptedBookie(gives(all))) { bookie =>
      using() { store =>
        val location = ledger(bookie.id)
        assertEquals(store.own(location), Some(location))
        Using.resource(store.open(Segment(7, 1, 2, 100, location), location)) { source =>
          assertEquals(Iterator.continually(source).takeWhile(_.next()).map(_.entryId).toList, List(1L, 2L))
          assertEquals(source.ledgerId, 7L)
        }
      }
    }
  }
}
