package io.github.pulsarspark.write

import scala.collection.mutable

import munit.FunSuite
import org.apache.spark.unsafe.types.UTF8String

class DestinationsSuite extends FunSuite {

  private final class Opened(most: Int) {
    val opened    = mutable.Buffer.empty[String]
    val givenBack = mutable.Buffer.empty[Seq[String]]
    var failure   = Option.empty[RuntimeException]

    val destinations = new Destinations[String](
      most,
      name => {
        opened += name
        name
      },
      names => {
        failure.foreach(throw _)
        givenBack += names
      }
    )

    def use(names: String*): Unit = names.foreach(n => assertEquals(destinations(UTF8String.fromString(n)), n))
  }

  test("a topic is opened once, as long as there are not too many") {
    val eight = new Opened(8)
    (1 to 3).foreach(_ => eight.use((1 to 8).map(_.toString): _*))
    assertEquals(eight.opened.toSeq, (1 to 8).map(_.toString))
    assertEquals(eight.givenBack.toSeq, Nil)
    assertEquals(eight.destinations.all.toSeq.sorted, (1 to 8).map(_.toString))
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

  test("names are kept beyond the row they are from") {
    val two  = new Opened(2)
    val text = "abc".getBytes
    two.destinations(UTF8String.fromBytes(text))
    text(0) = 'x'
    two.use("abc")
    assertEquals(two.opened.toSeq, Seq("abc"))
  }
}
