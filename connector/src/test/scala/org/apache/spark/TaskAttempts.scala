package org.apache.spark

import java.util.Properties

import org.apache.spark.executor.TaskMetrics

/** Runs code as Spark runs an attempt of a task. */
object TaskAttempts {

  def in[A](attempt: Int)(body: => A): A = {
    val empty = TaskContext.empty()
    TaskContext.setTaskContext(
      new TaskContextImpl(
        empty.stageId,
        empty.stageAttemptNumber,
        empty.partitionId,
        empty.taskAttemptId,
        attempt,
        1,
        empty.taskMemoryManager,
        new Properties,
        null,
        TaskMetrics.empty,
        cpus = 1 // its default needs a session
      )
    )
    try body
    finally TaskContext.unset()
  }

  /** Runs code as a task that has failed. */
  def failed[A](body: => A): A = in(0) {
    TaskContext.get() match {
      case task: TaskContextImpl => task.markTaskFailed(new IllegalStateException("the task failed"))
      case other                 => throw new AssertionError(other)
    }
    body
  }
}
