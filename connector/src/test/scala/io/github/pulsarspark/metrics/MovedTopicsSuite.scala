package io.github.pulsarspark.metrics

import io.github.pulsarspark.UnitSuite

class MovedTopicsSuite extends UnitSuite {

  test("tasks add up, and each copy counts by itself") {
    val total = new MovedTopics
    assert(total.isZero)
    val task = total.copyAndReset()
    task.add(Map("a" -> 1L))
    task.add(Map("a" -> 1L))
    task.add(Map("b" -> 1L))
    total.merge(task)
    total.merge(task)
    assertEquals(total.value, Map("a" -> 4L, "b" -> 2L))
    assertEquals(total.copy().value, total.value)
    total.reset()
    assert(total.isZero)
  }
}
