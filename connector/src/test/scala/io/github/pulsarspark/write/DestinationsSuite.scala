package io.github.pulsarspark.write

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.{TestSeed, UnitSuite}

class DestinationsSuite extends UnitSuite {

  /** @param isAtOnce
    *   whether topics open at once; otherwise each does when it is told to
    */
  private final class Opened(most: Int, isAtOnce: Boolean = true) {
    val opened    = mutable.Buffer.empty[String]
    val opening   = mutable.Map.empty[String, CompletableFuture[String]]
    val sent      = mutable.Map.empty[String, Vector[Int]].withDefaultValue(Vector.empty)
    val givenBack = mutable.Buffer.empty[Seq[String]]
    var failure   = Option.empty[RuntimeException]

    val destinations = new Destinations[String](
      most,
      name => {
        opened += name
        opening(name) = if (isAtOnce) CompletableFuture.completedFuture(name) else new CompletableFuture[String]
        opening(name)
      },
      (name, row) => sent(name) :+= row.getInt(0),
      names => {
        failure.foreach(throw _)
        givenBack += names
      }
    )

    def use(names: String*): Unit        = names.foreach(send(_, 0))
    def send(name: String, n: Int): Unit = destinations.send(UTF8String.fromString(name), InternalRow(n))
    def open(name: String): Unit         = { opening(name).complete(name); () }
  }

  test("a topic is opened once, as long as there are not too many") {
    val eight = new Opened(8)
    (1 to 3).foreach(_ => eight.use((1 to 8).map(_.toString): _*))
    assertEquals(eight.opened.toSeq, (1 to 8).map(_.toString))
    assertEquals(eight.givenBack.toSeq, Nil)
    assertEquals(eight.destinations.all.toSeq.sorted, (1 to 8).map(_.toString))
    assert(eight.sent.values.forall(_ == Vector(0, 0, 0)), eight.sent)
  }

  test("the topics that were used least recently are given back, a quarter at a time, and opened again when needed") {
    val eight = new Opened(8)
    eight.use("1", "2", "3", "4", "5", "6", "7", "8", "1", "9")
    assertEquals(eight.givenBack.toSeq, Seq(Seq("2", "3")))
    eight.use("10", "1", "2")
    assertEquals(eight.givenBack.toSeq, Seq(Seq("2", "3"), Seq("4", "5")))
    assertEquals(eight.opened.count(_ == "2"), 2)
    assertEquals(eight.opened.count(_ == "1"), 1)
  }

  test("there are never more than the most, in whatever order topics are used") {
    val chance = new scala.util.Random(7)
    Seq(1, 3, 8).foreach { most =>
      val opened = new Opened(most)
      (1 to 1000).foreach { _ =>
        opened.use(chance.nextInt(20).toString)
        assert(opened.destinations.all.size <= most)
      }
      assertEquals(opened.opened.size, opened.givenBack.map(_.size).sum + opened.destinations.all.size)
    }
  }

  test("topics whose use cannot be ended stay") {
    val two = new Opened(2)
    two.use("1", "2")
    two.failure = Some(new RuntimeException("not acknowledged"))
    assertEquals(intercept[RuntimeException](two.use("3")).getMessage, "not acknowledged")
    assertEquals(two.destinations.all.toSeq, Seq("1", "2"))
  }

  test("names and rows are kept beyond the call") {
    val two  = new Opened(2, isAtOnce = false)
    val text = "abc".getBytes
    val row  = new GenericInternalRow(Array[Any](1))
    two.destinations.send(UTF8String.fromBytes(text), row)
    text(0) = 'x'
    row.setInt(0, 2)
    two.send("abc", 3)
    two.open("abc")
    two.destinations.openAll()
    assertEquals(two.opened.toSeq, Seq("abc"))
    assertEquals(two.sent("abc"), Vector(1, 3))
  }

  test("a topic that opens slowly holds up its own rows alone") {
    val eight = new Opened(8, isAtOnce = false)
    eight.use("slow", "fast")
    assertEquals(eight.opened.toSeq, Seq("slow", "fast"))
    eight.open("fast")
    eight.use("fast")
    assertEquals(eight.sent.toMap, Map("fast" -> Vector(0, 0)))
    assertEquals(eight.destinations.all.toSeq, Seq("fast"))
    assertEquals(eight.destinations.eventually.count(_.isDone), 1)
  }

  test("each topic has its rows in their order, whenever topics open") {
    val seed   = TestSeed.next()
    val chance = new scala.util.Random(seed)
    (1 to 200).foreach { round =>
      val some   = new Opened(1000, isAtOnce = false)
      val wanted = mutable.Map.empty[String, Vector[Int]].withDefaultValue(Vector.empty)
      (1 to chance.nextInt(100)).foreach { n =>
        val name = chance.nextInt(6).toString
        some.send(name, n)
        wanted(name) :+= n
        if (chance.nextInt(4) == 0)
          some.opening.keys.drop(chance.nextInt(some.opening.size)).headOption.foreach(some.open)
      }
      some.opening.keys.foreach(some.open)
      some.destinations.openAll()
      assertEquals(some.sent.toMap, wanted.toMap, s"round $round")
    }
  }

  test("only so many bytes of rows wait: then the task waits for its topics") {
    val eight = new Opened(8, isAtOnce = false)
    eight.send("slow", 0)
    val writer = Thread.currentThread
    val opener = new Thread(() => {
      // the task waits for the topic, and does not keep more rows
      while (!Iterator("WAITING", "TIMED_WAITING").contains(writer.getState.toString)) Thread.onSpinWait()
      eight.open("slow")
    })
    opener.setDaemon(true)
    opener.start()
    val most = (Destinations.MaxWaitingBytes / 128).toInt
    (1 to most).foreach(eight.send("slow", _))
    opener.join(60000)
    assertEquals(eight.sent("slow").size, most + 1)
    assertEquals(eight.sent("slow"), Vector.range(0, most + 1))
  }

  test("rows that were sent do not count among those that wait") {
    val eight = new Opened(8, isAtOnce = false)
    val most  = (Destinations.MaxWaitingBytes / 128).toInt
    (1 until most).foreach(eight.send("first", _))
    eight.open("first")
    eight.destinations.openAll()
    val sending = new Thread(() => eight.use("second", "second"))
    sending.setDaemon(true)
    sending.start()
    sending.join(60000)
    assert(!sending.isAlive, "it waits for the second topic")
    assertEquals(eight.sent("second"), Vector.empty[Int])
  }

  test("a topic that cannot be opened fails the task with its own failure") {
    val eight   = new Opened(8, isAtOnce = false)
    val failure = new IllegalStateException("no such topic")
    eight.use("bad")
    eight.opening("bad").completeExceptionally(failure)
    assertEquals(intercept[IllegalStateException](eight.destinations.openAll()), failure)
    assertEquals(intercept[IllegalStateException](eight.use("bad")), failure)
    assertEquals(eight.destinations.all.toSeq, Nil)
  }
}
