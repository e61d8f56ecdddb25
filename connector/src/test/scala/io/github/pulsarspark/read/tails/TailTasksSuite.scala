package io.github.pulsarspark.read.tails

import io.github.pulsarspark.UnitSuite

class TailTasksSuite extends UnitSuite {

  test("most tasks: half of the slots, at least one, unless the user chose a number") {
    assertEquals(Seq(1, 2, 3, 8).map(TailTasks.most(None, _)), Seq(1, 1, 1, 4))
    assertEquals(TailTasks.most(Some(40), 2), 40)
  }

  test("each task has as many partitions with a backlog as any other, and as many partitions") {
    assertEquals(
      TailTasks.divide(Seq("a", "b!", "c", "d!", "e"), 2)(_.endsWith("!")),
      Seq(Seq("b!", "a", "e"), Seq("d!", "c"))
    )
    val tasks = TailTasks.divide(1 to 1000, 7)(_ % 3 == 0)
    assertEquals(tasks.flatten.sorted, (1 to 1000).toSeq)
    assert(tasks.map(_.size).toSet == Set(142, 143), tasks.map(_.size))
    assert(tasks.map(_.count(_ % 3 == 0)).toSet == Set(47, 48), tasks.map(_.count(_ % 3 == 0)))
  }

  test("no more tasks than partitions; one without a partition") {
    assertEquals(TailTasks.divide(Seq("a", "b"), 9)(_ => false), Seq(Seq("a"), Seq("b")))
    assertEquals(TailTasks.divide(Seq.empty[String], 9)(_ => false), Seq(Nil))
  }

  test("another partition of each task is the first one in each batch") {
    val tasks = Seq(Seq("a", "b", "c"), Seq("d"), Nil)
    assertEquals(
      (0 to 3).map(TailTasks.turned(tasks, _).map(_.headOption.getOrElse("none"))),
      IndexedSeq(Seq("a", "d", "none"), Seq("b", "d", "none"), Seq("c", "d", "none"), Seq("a", "d", "none"))
    )
    assertEquals(TailTasks.turned(tasks, 4).head, Seq("b", "c", "a"))
  }
}
