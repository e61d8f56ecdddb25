package io.github.pulsarspark.common

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import io.github.pulsarspark.UnitSuite

class BoundedParallelSuite extends UnitSuite {

  test("each request is sent once, in order, with a bounded number open") {
    for (atOnce <- Seq(1, 3, 64, 1000)) {
      val asked = mutable.ArrayBuffer.empty[Int]
      var open  = 0
      var most  = 0
      val taken = BoundedParallel(1 to 200, atOnce) { question =>
        asked += question
        open += 1
        most = math.max(most, open)
        CompletableFuture.completedFuture(question * 2)
      } { (question, answer) =>
        open -= 1
        (question, answer.get)
      }
      assertEquals(taken, (1 to 200).map(n => (n, n * 2)))
      assertEquals(asked.toSeq, 1 to 200)
      assertEquals(most, math.min(atOnce, 200))
    }
  }

  test("no request is sent after the first failed answer") {
    val asked = mutable.ArrayBuffer.empty[Int]
    intercept[IllegalStateException](
      BoundedParallel(1 to 10, 2)(asked += _)((n, _) => if (n == 3) throw new IllegalStateException else n)
    )
    assertEquals(asked.toSeq, 1 to 4)
  }

  test("no requests, no answers") {
    assertEquals(BoundedParallel(Seq.empty[Int], 5)(identity)((n, _) => n), Nil)
  }
}
