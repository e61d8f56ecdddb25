package io.github.pulsarspark.write.exactlyonce

/** What a task knows of its driver.
  *
  * @param done
  *   the last epoch that is written: tasks of it and of those before send nothing
  */
private[write] final case class SinkTask(settings: SinkSettings, identity: SinkIdentity, done: Option[Long])
