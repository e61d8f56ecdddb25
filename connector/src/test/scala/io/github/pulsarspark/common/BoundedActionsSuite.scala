package io.github.pulsarspark.common

import java.util.concurrent.{CompletableFuture, TimeUnit}
import java.util.{Collections, LinkedHashMap => JMap}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.KilledTasks.eventually

class BoundedActionsSuite extends UnitSuite {

  private final class Actions(atOnce: Int, patienceMillis: Long = 60000) {
    private val bound = new BoundedActions(atOnce, patienceMillis, run => run.run())

    /** Actions that began, in their order; for any thread. */
    val started: mutable.Map[Int, CompletableFuture[Void]] =
      Collections.synchronizedMap(new JMap[Int, CompletableFuture[Void]]).asScala

    def run(number: Int): CompletableFuture[Void] = bound.run { () =>
      started.put(number, new CompletableFuture[Void])
      started(number)
    }
  }

  test("actions run at once up to the bound, the others in the order of their requests when one ends") {
    val actions = new Actions(2)
    val results = (1 to 5).map(actions.run)
    assertEquals(actions.started.keys.toSeq, Seq(1, 2))
    actions.started(2).complete(null)
    assertEquals(actions.started.keys.toSeq, Seq(1, 2, 3))
    actions.started(1).complete(null)
    assertEquals(actions.started.keys.toSeq, Seq(1, 2, 3, 4))
    assertEquals(results.map(_.isDone), Seq(true, true, false, false, false))
    (3 to 5).foreach(actions.started(_).complete(null))
    assertEquals(results.map(_.isDone), Seq.fill(5)(true))
    actions.run(6)
    actions.run(7)
    assertEquals(actions.started.size, 7, "nothing runs any more that would keep these waiting")
  }

  test("an action that fails reports it, and makes room") {
    val actions = new Actions(1)
    val failing = actions.run(1)
    val next    = actions.run(2)
    actions.started(1).completeExceptionally(new IllegalStateException("refused"))
    assert(failing.isCompletedExceptionally)
    actions.started(2).complete(null)
    assert(!next.isCompletedExceptionally)
    val thrown = new BoundedActions(1, 60000, run => run.run()).run(() => throw new IllegalStateException("at once"))
    assert(thrown.isCompletedExceptionally)
  }

  test("an action that does not end makes room after a while, and may still end") {
    val actions = new Actions(1, patienceMillis = 1)
    val stuck   = actions.run(1)
    val next    = actions.run(2)
    eventually("the second action does not begin")(actions.started.contains(2))
    actions.started(2).complete(null)
    next.get(60, TimeUnit.SECONDS)
    assert(!stuck.isDone)
    actions.started(1).complete(null)
    stuck.get(60, TimeUnit.SECONDS)
  }
}
